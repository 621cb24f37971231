// `holdfast-server restored`: an operator declares that etcd was restored from a backup. Records that must not be used a
// second time are deleted, and the store gets another epoch, by which servers and agents recognise the restore
// (docs/design/restored-stores.md#servers).

import type { TenantId } from '@holdfast/contract'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import { epochAddress, randomEpoch, type StoreEpoch } from '../../store/epoch.ts'
import {
  type Collection,
  execTickets,
  idempotentAnswers,
  intents,
  joinTokens,
  signIns,
  tenants,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { type Address, globally, inTenant } from '../../store/transaction.ts'

/** The most epochs that a new one replaces. A server that knows an older one refuses to start. */
const MOST_PREVIOUS = 32
/** The most tenants that are confirmed one by one. */
const MOST_TENANTS = 1_000
const AT_ONCE = 100

interface RestoreDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'bytes'>
}

/** The number of deleted records of each kind. */
export interface Voided {
  readonly joinTokens: number
  readonly execTickets: number
  readonly signIns: number
  readonly idempotentAnswers: number
  readonly intents: number
}

/**
 * Declares the store restored. `known` are epochs that servers may know although the store has lost them. The epoch is
 * written last: a run that fails is repeated, and ends every server that still runs on what the store was before.
 */
export async function declareRestored(
  deps: RestoreDeps,
  known: readonly string[],
): Promise<{ readonly epoch: StoreEpoch; readonly voided: Voided }> {
  const { store } = deps
  await store.fresh()
  const voided = {
    joinTokens: await voidGlobal(store, joinTokens),
    execTickets: await voidGlobal(store, execTickets),
    signIns: await voidGlobal(store, signIns),
    idempotentAnswers: await voidAnswers(store),
    // The versions of open intents stay in the secrets store: a deployment may have pinned them after the backup.
    intents: await voidGlobal(store, intents),
  }
  return { voided, epoch: await putEpoch(deps, known) }
}

function putEpoch({ store, clock, ids }: RestoreDeps, known: readonly string[]): Promise<StoreEpoch> {
  const epoch = randomEpoch(ids)
  const { clusterId } = store
  return store.transact<StoreEpoch>((transaction) => {
    const before = transaction.get(epochAddress)
    const { clusterId: _cluster, confirmedTenants: _tenants, ...kept } = before ?? { v: 1 }
    const replaced = before === undefined ? known : [before.epoch, ...known, ...before.previous]
    const next: StoreEpoch = {
      ...kept,
      epoch,
      createdAt: timestamp(clock),
      ...(clusterId === undefined ? {} : { clusterId }),
      previous: [...new Set(replaced)].slice(0, MOST_PREVIOUS),
      unconfirmed: true,
    }
    transaction.put(epochAddress, next)
    return { kind: 'commit', result: next }
  })
}

async function voidGlobal(store: Store, collection: Collection<unknown>): Promise<number> {
  const ids = store.listWithIds(collection).map(({ id }) => id)
  await deleteAll(
    store,
    ids.map((id) => globally(collection, id)),
  )
  return ids.length
}

async function voidAnswers(store: Store): Promise<number> {
  let count = 0
  for (const { record } of store.list(tenants)) {
    const keys = store.keysOf(idempotentAnswers, record.id)
    await deleteAll(
      store,
      keys.map(({ id }) => inTenant(record.id, idempotentAnswers, id)),
    )
    count += keys.length
  }
  return count
}

async function deleteAll(store: Store, addresses: readonly Address<unknown>[]): Promise<void> {
  for (let from = 0; from < addresses.length; from += AT_ONCE)
    await store.transact((transaction) => {
      for (const address of addresses.slice(from, from + AT_ONCE)) transaction.delete(address)
      return { kind: 'commit', result: undefined }
    })
}

export type Confirmed = 'confirmed' | 'nothing to confirm' | 'too many tenants' | 'unknown tenant'

/** Lets agents remove again what the restored store lacks: those of one tenant, or of all. */
export async function confirmRestored(
  { store }: Pick<RestoreDeps, 'store'>,
  tenant: TenantId | undefined,
): Promise<Confirmed> {
  await store.fresh()
  if (tenant !== undefined && store.get(globally(tenants, tenant)) === undefined) return 'unknown tenant'
  return store.transact<Confirmed>((transaction) => {
    const stored = transaction.get(epochAddress)
    if (stored?.unconfirmed !== true) return { kind: 'abort', result: 'nothing to confirm' }
    const { unconfirmed: _unconfirmed, confirmedTenants = [], ...others } = stored
    const confirmed = new Set([...confirmedTenants, ...(tenant === undefined ? [] : [tenant])])
    if (confirmed.size > MOST_TENANTS) return { kind: 'abort', result: 'too many tenants' }
    transaction.put(
      epochAddress,
      tenant === undefined ? others : { ...stored, confirmedTenants: [...confirmed] },
    )
    return { kind: 'commit', result: 'confirmed' }
  })
}
