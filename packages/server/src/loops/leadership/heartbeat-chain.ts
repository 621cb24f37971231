// The chain of heartbeats of one server: a record that only this server writes, and that counts its heartbeats. Each
// heartbeat compares the previous one, so a store that was restored to a state before the last heartbeat is recognised,
// whatever its revision is (docs/design/restored-stores.md#servers).

import { withDeadline } from '../../lib/with-deadline.ts'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { chains } from '../../store/records.ts'
import { RestoredStoreError } from '../../store/restored.ts'
import type { Store } from '../../store/store.ts'
import { addressKey, globally, type Transaction } from '../../store/transaction.ts'

const KEPT_MS = 30 * 24 * 3_600_000
const MOST_CHAINS = 1_000
const AT_ONCE = 100
const VERIFY_MS = 2_000

export interface ChainStart {
  readonly id: string
  /** The number of heartbeats that this server has written under the id. */
  readonly count: number
}

export interface HeartbeatChain {
  /** Adds the next heartbeat to the transaction. False if the cached record is not the last one that was written. */
  link(transaction: Transaction): boolean
  /** Called after the transaction was committed. */
  committed(): void
  /** Reads the record after a heartbeat failed, and ends the use of the store if the record lacks a written heartbeat. */
  verify(): Promise<void>
}

/** `onCommitted` is called with the count after each heartbeat. */
export function createHeartbeatChain(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { id, count: written }: ChainStart,
  onCommitted: (chain: ChainStart) => void,
): HeartbeatChain {
  const address = globally(chains, id)
  let count = written
  return {
    link(transaction) {
      const found = transaction.get(address)
      if ((found?.count ?? 0) !== count) return false
      transaction.put(address, { ...found, v: 1, count: count + 1, at: timestamp(clock) })
      return true
    },
    committed() {
      count += 1
      onCommitted({ id, count })
    },
    async verify() {
      const read = store.read(chains, [addressKey(store.keyspace, address)])
      const answer = await withDeadline(VERIFY_MS, read, () => undefined)
      // The next heartbeat asks again. A longer wait would delay the stop of a server without its store.
      if (answer === undefined) return
      const inStore = answer[0]?.count ?? 0
      if (inStore < count)
        store.fail(
          new RestoredStoreError(
            `the store has lost heartbeats of this server: it wrote ${count}, and the store has ${inStore}`,
          ),
        )
      // A heartbeat whose response was lost has been written.
      else count = inStore
    },
  }
}

/** Deletes the chains of servers that were removed or have no state folder: after 30 days, and the oldest of too many. */
export async function sweepChains({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const oldest = timestamp({ now: () => clock.now() - KEPT_MS })
  const all = store.listWithIds(chains).toSorted((one, other) => (one.record.at < other.record.at ? 1 : -1))
  const ended = all.filter(({ record }, rank) => rank >= MOST_CHAINS || record.at < oldest)
  for (let from = 0; from < ended.length; from += AT_ONCE)
    await store.transact<void>((transaction) => {
      for (const { id, modRevision } of ended.slice(from, from + AT_ONCE)) {
        const address = globally(chains, id)
        if (transaction.get(address) !== undefined && store.get(address)?.modRevision === modRevision)
          transaction.delete(address)
      }
      return { kind: 'commit', result: undefined }
    })
}
