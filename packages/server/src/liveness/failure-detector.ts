// May a silent node be given up now? One answer for both that ask, the gateway for the sessions it holds and the owner of a
// shard for those that nobody holds. Time is this process's own, and begins anew whenever the control plane itself was
// away: then nobody knows who was silent. DECISIONS 5 (Node), SAFETY 4b, 4e, 4h.

import type { NodeId } from '@holdfast/contract'
import { detectMassFailure, type MassFailureVerdict, type MassTimes } from '@holdfast/core'
import { shards } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally } from '../store/transaction.ts'
import { createNodeHealthIndex, type NodeHealthIndex } from './node-health-index.ts'

export interface FailureTimes extends MassTimes {
  /** Between two signs of life of a node. */
  readonly heartbeatMs: number
  /** Silence after which a node is called unreachable. */
  readonly unreachableMs: number
  /** Two answers of the store that are further apart mean that it was away: a beat and what an answer may take. */
  readonly awayMs: number
}

export interface FailureDetectorOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'fresh' | 'subscribe'>
  /** The id of this process among the server replicas. */
  readonly self: string
  readonly times: FailureTimes
  /** `look` is called so often. */
  readonly lookMs: number
  /** Monotonic, in milliseconds; absent: the process's own. */
  monotonic?(): number
  /** Many nodes fell silent at once and none of them is given up; or that is over. */
  onHold?(begins: boolean, facts: { readonly silent: number; readonly of: number }): void
}

export interface FailureDetector extends Pick<NodeHealthIndex, 'orphans' | 'revived' | 'isServing'> {
  /** When the clocks last began anew: silence before that does not count. */
  readonly countedFrom: number
  readonly holding: boolean
  /** At each turn of whoever judges. */
  look(now: number): void
  /** All clocks begin anew. */
  restart(now: number): void
  /** False for a node that is there, was given up already, or is to be waited for. */
  mayFail(nodeId: NodeId, now: number): boolean
  stop(): void
}

/** The store is asked so often in the time after which it counts as away. */
const ASKED_MEANWHILE = 3

export function createFailureDetector(options: FailureDetectorOptions): FailureDetector {
  const { store, self, times, lookMs, monotonic = () => performance.now(), onHold } = options
  const index = createNodeHealthIndex({ store, self, unreachableMs: times.unreachableMs }, monotonic())
  let countedFrom = monotonic()
  let lookedAt = countedFrom
  let changes = 0
  let last: (MassFailureVerdict & { readonly at: number; readonly changes: number }) | undefined
  const restart = (now: number): void => {
    countedFrom = now
    last &&= { ...last, changes: -1 }
  }
  const storeWatch = watchStore(store, monotonic, times.awayMs, restart)
  const judge = (asked: number): MassFailureVerdict => {
    const now = Math.max(asked, last?.at ?? asked)
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
    const taken = all.some(({ kind, key: { tenant, folder, id } }) => {
      const shard = tenant === undefined && folder === shards.folder && kind === 'put'
      return shard && store.get(globally(shards, id))?.record.owner === self
    })
    // What the former owner knew of its nodes went with it.
    if (taken) restart(now)
  })
  return {
    ...{ orphans: index.orphans, revived: index.revived, isServing: index.isServing, restart },
    get countedFrom() {
      return countedFrom
    },
    get holding() {
      return last?.holding === true
    },
    look(now) {
      const lateMs = now - lookedAt - lookMs
      lookedAt = now
      // We stood still: what was said to us meanwhile is still unread.
      if (lateMs > times.heartbeatMs) {
        index.giveBack(lateMs)
        countedFrom += lateMs
        changes += 1
      }
      storeWatch.look(now)
      judge(now)
    },
    // `now` may be from before a call that the store kept waiting.
    mayFail: (nodeId, now) => !storeWatch.isAway(monotonic()) && judge(now).mayFail.has(nodeId),
    stop: unsubscribe,
  }
}

/** While the store does not answer, nobody can tell us of a node, and nobody knows what is true when it is back. */
function watchStore(
  store: Pick<Store, 'fresh'>,
  monotonic: () => number,
  awayMs: number,
  onBack: (now: number) => void,
) {
  let askedAt = monotonic()
  let answeredAt = askedAt
  let asking = false
  const isAway = (now: number): boolean => now - answeredAt > awayMs
  const answered = (): void => {
    const now = monotonic()
    if (isAway(now)) onBack(now)
    answeredAt = now
  }
  return {
    isAway,
    look(now: number): void {
      if (asking || now - askedAt < awayMs / ASKED_MEANWHILE) return
      askedAt = now
      asking = true
      store
        .fresh()
        .then(answered, () => {})
        .finally(() => {
          asking = false
        })
    },
  }
}
