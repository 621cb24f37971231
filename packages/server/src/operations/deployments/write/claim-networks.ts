// The networks that a workload names: the facts that admission needs, and the write by which a new use conflicts with the
// deletion of the network.

import type { TenantId } from '@holdfast/contract'
import type { Facts } from '@holdfast/core'
import { networkNames, networks } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

/** The part of a workload's spec that names networks. */
interface NamesNetworks {
  readonly networks?: readonly string[] | undefined
}

/** The named networks by name. A network that is being deleted can be kept, but not newly named. */
export function gatherNetworks(
  transaction: Transaction,
  tenant: TenantId,
  spec: NamesNetworks,
  before: NamesNetworks | undefined,
): Facts['networks'] {
  if (spec.networks === undefined || spec.networks.length === 0) return undefined
  const known = new Map<string, { readonly nodeId: string; readonly nodeName: string }>()
  for (const name of spec.networks) {
    const id = transaction.get(inTenant(tenant, networkNames, name))?.id
    const network = id && transaction.get(inTenant(tenant, networks, id))
    if (!network || (network.phase === 'Deleting' && !before?.networks?.includes(name))) continue
    known.set(name, network)
  }
  return known
}

/** Writes the name of each network that the spec newly names: the deletion of a network compares this record. */
export function claimNetworks(
  transaction: Transaction,
  tenant: TenantId,
  before: NamesNetworks | undefined,
  after: NamesNetworks,
): void {
  for (const name of after.networks ?? []) {
    if (before?.networks?.includes(name)) continue
    const address = inTenant(tenant, networkNames, name)
    const record = transaction.get(address)
    if (record !== undefined) transaction.put(address, { ...record })
  }
}
