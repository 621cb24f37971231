// Decides whether a silent node may be declared failed. A process has one detector; the gateway uses it for its sessions,
// and the owner of a shard for nodes whose session has no holder. Silence is measured on this process's clock, from a
// time that moves forward after each outage of the control plane. See docs/design/liveness.md#failure-detection.

import type { NodeId } from '@holdfast/contract'
import { detectMassFailure, type MassFailureVerdict, type MassTimes } from '@holdfast/core'
import { shards } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally } from '../store/transaction.ts'
import { createNodeHealthIndex, type NodeHealthIndex } from './node-health-index.ts'
import { watchStore } from './watch-store.ts'

export interface FailureTimes extends MassTimes {
  /** Heartbeat interval of a node. */
  readonly heartbeatMs: number
  /** Silence after which a node is unreachable. */
  readonly unreachableMs: number
  /** Time without an answer of the store after which the store counts as unavailable. */
  readonly awayMs: number
}

export interface FailureDetectorOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'fresh' | 'subscribe'>
  /** The id of this process as a server replica. */
  readonly self: string
  readonly times: FailureTimes
  /** Maximum time between two calls of `check`. */
  readonly checkMs: number
  /** Monotonic clock in milliseconds; by default the clock of this process. */
  monotonic?(): number
  /** Called when a mass-failure hold begins or ends. During the hold, silent nodes are not declared failed. */
  onHold?(begins: boolean, facts: { readonly silent: number; readonly of: number }): void
}

interface HoldLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}

export const logHolds =
  (log: HoldLog): NonNullable<FailureDetectorOptions['onHold']> =>
  (begins, facts) =>
    begins
      ? log.warn(facts, 'mass-failure hold began, silent nodes are not declared failed')
      : log.info(facts, 'mass-failure hold ended')

export interface FailureDetector extends Pick<NodeHealthIndex, 'orphans' | 'revived' | 'isServing'> {
  /** Time from which silence is measured; silence before this time is ignored. */
  readonly countedFrom: number
  /** Whether a mass-failure hold is in effect: many nodes fell silent at once, so none is declared failed. */
  readonly holding: boolean
  /** Time of the last fresh view of the store. */
  readonly freshAt: number
  /** Updates the detector to the time `now`. To be called before `mayFail` or `holding` is read. */
  check(now: number): void
  /** Measures the silence of all nodes from `now` on; earlier silence is ignored. */
  restart(now: number): void
  /** False if the node has not been silent long enough, has already failed, or a mass-failure hold is in effect. */
  mayFail(nodeId: NodeId, now: number): boolean
  stop(): void
}

export function createFailureDetector(options: FailureDetectorOptions): FailureDetector {
  const { store, self, times, checkMs, monotonic = () => performance.now(), onHold } = options
  const index = createNodeHealthIndex({ store, self, unreachableMs: times.unreachableMs }, monotonic())
  let countedFrom = monotonic()
  let checkedAt = countedFrom
  let changes = 0
  let last: (MassFailureVerdict & { readonly at: number; readonly changes: number }) | undefined
  const restart = (now: number): void => {
    countedFrom = now
    last &&= { ...last, changes: -1 }
  }
  const storeWatch = watchStore(store, monotonic, times.awayMs, restart)
  const evaluate = (at: number): MassFailureVerdict => {
    const now = Math.max(at, last?.at ?? at)
    if (last?.at === now && last.changes === changes) return last
    const cell = index.silentCount(now) === 0 ? [] : index.cellNodes(now)
    const facts = { nodes: cell, now, countedFrom, massSeenAt: last?.massSeenAt }
    const held = last?.holding === true
    last = { ...detectMassFailure(facts, times), at: now, changes }
    if (last.holding !== held) onHold?.(last.holding, { silent: index.silentCount(now), of: index.size })
    return last
  }
  const unsubscribe = store.subscribe((all) => {
    const now = monotonic()
    changes += 1
    index.apply(all, now)
    const gainedShard = all.some(({ kind, key: { tenant, folder, id } }) => {
      const shard = tenant === undefined && folder === shards.folder && kind === 'put'
      return shard && store.get(globally(shards, id))?.record.owner === self
    })
    // Only the previous owner of a gained shard knew how long nodes were silent, so silence is measured from now on.
    if (gainedShard) restart(now)
  })
  return {
    orphans: index.orphans,
    revived: index.revived,
    isServing: index.isServing,
    restart,
    get countedFrom() {
      return countedFrom
    },
    get holding() {
      return last?.holding === true
    },
    get freshAt() {
      return storeWatch.freshAt
    },
    check(now) {
      const lateMs = now - checkedAt - checkMs
      checkedAt = now
      // Heartbeats that arrived while this process was suspended are still unread, so the suspended time is no silence.
      if (lateMs > times.heartbeatMs) {
        index.shiftClocks(lateMs)
        countedFrom += lateMs
        changes += 1
      }
      storeWatch.poll(now)
      evaluate(now)
    },
    // `now` may be earlier than an outage of the store, so the store's availability is checked at the real time instead.
    mayFail: (nodeId, now) => !storeWatch.isAway(monotonic()) && evaluate(now).mayFail.has(nodeId),
    stop: unsubscribe,
  }
}
