// Reads the epoch of the store before anything uses the store (docs/design/restored-stores.md#servers).

import { type Clock, type IdSource, timestamp } from '../ports/clock.ts'
import { epochAddress, randomEpoch, type StoreEpoch } from './epoch.ts'
import { RestoredStoreError } from './restored.ts'
import type { Store } from './store.ts'

/**
 * Reads the epoch of the store, and creates it in a store that has none. Throws if the store was written under the id of
 * another etcd cluster than the one that answers.
 */
export async function requireEpoch(
  store: Pick<Store, 'transact' | 'clusterId'>,
  { clock, ids }: { readonly clock: Clock; readonly ids: Pick<IdSource, 'bytes'> },
): Promise<StoreEpoch> {
  const { clusterId } = store
  const found = await store.transact<StoreEpoch>((transaction) => {
    const stored = transaction.get(epochAddress)
    if (stored !== undefined) return { kind: 'abort', result: stored }
    const first: StoreEpoch = {
      v: 1,
      epoch: randomEpoch(ids),
      createdAt: timestamp(clock),
      ...(clusterId === undefined ? {} : { clusterId }),
      previous: [],
    }
    transaction.put(epochAddress, first)
    return { kind: 'commit', result: first }
  })
  if (clusterId !== undefined && found.clusterId !== undefined && clusterId !== found.clusterId)
    throw new RestoredStoreError(
      `etcd is cluster ${clusterId}, but the store was written in cluster ${found.clusterId}`,
    )
  return found
}
