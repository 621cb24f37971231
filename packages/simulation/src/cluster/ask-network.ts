// Requests that create and delete networks, by the names that a script gives them.

import type { Json, NodeId } from '@holdfast/contract'
import type { Caller } from '@holdfast/server/operations/caller'
import { createNetwork } from '@holdfast/server/operations/networks/create-network'
import { deleteNetwork } from '@holdfast/server/operations/networks/delete-network'
import { networkNames } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import type { Step } from '../script/script.ts'
import { once, RefusedError, required } from './ask.ts'
import type { Server } from './server.ts'

export type NetworkStep = Extract<Step, { do: 'network' | 'network-delete' }>

export async function askNetwork(
  { operations, store }: Pick<Server, 'operations' | 'store'>,
  caller: Caller,
  step: NetworkStep,
  place: { readonly nodeId?: NodeId },
): Promise<void> {
  const { network: name } = step
  if (step.do === 'network') {
    const sent: Json = JSON.parse(JSON.stringify({ name, ...step.spec, ...place }))
    required(await createNetwork(operations, caller, sent, once()))
    return
  }
  const id = store.get(inTenant(caller.tenant, networkNames, name))?.record.id
  if (id === undefined) throw new RefusedError(`the tenant has no network ${name}`)
  required(await deleteNetwork(operations, caller, id, undefined))
}
