// The epoch of the store in calls between server replicas: a replica whose store is the one before a restore must not act for
// a replica of the restored store, nor the other way round. See docs/design/restored-stores.md#calls-between-servers

import { defined } from '@holdfast/contract'
import { epochAddress } from '../../store/epoch.ts'
import type { Store } from '../../store/store.ts'

type EpochStore = Pick<Store, 'get' | 'fresh' | 'fault'>

/** The status of the answer to a caller whose store has another epoch. */
export const OTHER_EPOCH = 409

const epochOf = (store: EpochStore): string | undefined => store.get(epochAddress)?.record.epoch

/** Adds the epoch of this replica's store to the content of a call, which the proof of the call covers. */
export const withEpoch = <T extends object>(
  store: EpochStore,
  content: T,
): T & { readonly epoch?: string } => ({
  ...content,
  ...defined({ epoch: epochOf(store) }),
})

/**
 * The status with which a proven call is refused; undefined if it is served. A caller of an older version sends no epoch.
 * After a difference this replica reads its store: if the restored one is the caller's, this replica ends.
 */
export function refuseEpoch(store: EpochStore, body: string): number | undefined {
  if (store.fault !== undefined) return 503
  const [theirs, ours] = [readEpoch(body), epochOf(store)]
  if (theirs === undefined || ours === undefined || theirs === ours) return undefined
  readStore(store)
  return OTHER_EPOCH
}

/** Reads the store after another replica has refused a call, because the older epoch may be the one of this replica. */
export function noteRefusal(store: EpochStore, status: number): void {
  if (status === OTHER_EPOCH) readStore(store)
}

/** The read itself compares the epoch; an unavailable store is no reason to end. */
const readStore = (store: EpochStore): void => void store.fresh().catch(() => {})

function readEpoch(body: string): string | undefined {
  try {
    const content: unknown = JSON.parse(body)
    const isObject = typeof content === 'object' && content !== null && 'epoch' in content
    return isObject && typeof content.epoch === 'string' ? content.epoch : undefined
  } catch {
    // The handler of the call refuses a body that is no JSON.
    return undefined
  }
}
