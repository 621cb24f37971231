// The nodes that a workload avoids for a while, because they could not create one of its containers lately. See
// docs/design/nodes-that-fail.md

import type { AvoidedNode } from '@holdfast/contract'
import type { Workload } from './facts.ts'

/** How long a node is avoided. A broken node is tried at most once in this time, whatever is wrong with it. */
export const AVOIDED_MS = 10 * 60_000

/** The remembered nodes whose time is not over. A time further ahead than possible means that a clock was set back. */
export const avoidedAt = (avoided: readonly AvoidedNode[] | undefined, now: number): AvoidedNode[] =>
  (avoided ?? []).filter(({ until }) => {
    const end = Date.parse(until)
    return end > now && end <= now + AVOIDED_MS
  })

/** The workload as it may be placed now: not on the nodes that could not create one of its containers lately. */
export function avoiding(
  workload: Workload,
  avoided: readonly AvoidedNode[] | undefined,
  now: number,
): Workload {
  const avoids = avoidedAt(avoided, now).map(({ nodeId, cause }) => ({ nodeId, cause }))
  return avoids.length === 0 ? workload : { ...workload, avoids }
}

/** Time at which the first remembered node is tried again; undefined if none is remembered. */
export function avoidedUntil(avoided: readonly AvoidedNode[] | undefined, now: number): number | undefined {
  const ends = avoidedAt(avoided, now).map(({ until }) => Date.parse(until))
  return ends.length === 0 ? undefined : Math.min(...ends)
}
