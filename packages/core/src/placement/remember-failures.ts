// Remembers the nodes that could not create a container of a deployment, so that no replica returns to one of them for a
// while. See docs/design/nodes-that-fail.md

import type { Assignment, AvoidedNode, NodeId } from '@holdfast/contract'
import { containerCause } from '../node/container-cause.ts'
import { MOST_NODE_FAILURES } from '../node/node-cause.ts'
import { isReady } from '../node/observe-replica.ts'
import { hasValidReports } from '../rollout/desired-replicas.ts'
import { AVOIDED_MS, avoidedAt } from '../scheduling/index.ts'
import { isRunning } from './find-displaced.ts'
import type { PlacementRecord, PlacementSnapshot } from './snapshot.ts'

/** The most nodes that a placement remembers. */
const MOST_AVOIDED = 64
const MAX_CAUSE = 200

/** The running assignments whose container their node could not create in three attempts in a row. */
export function uncreated(
  { seen, dispositionOf }: Pick<PlacementSnapshot, 'seen' | 'dispositionOf'>,
  assignments: readonly Assignment[],
): Assignment[] {
  return assignments.filter((each) => {
    const observed = seen(each.id)
    const isRefused = (observed?.nodeFailures ?? 0) >= MOST_NODE_FAILURES && !isReady(observed)
    return isRefused && isRunning(each) && hasValidReports(dispositionOf(each.nodeId))
  })
}

/**
 * The remembered nodes after this decision: without those that have created a replica since, and with new ones. The stored
 * list itself if neither is the case; it is not written only because a time is over.
 */
export function nextAvoided(
  snapshot: Pick<PlacementSnapshot, 'seen' | 'dispositionOf' | 'placement'>,
  now: number,
): PlacementRecord['avoided'] {
  const { placement, seen } = snapshot
  const remembered = avoidedAt(placement?.avoided, now)
  const stuck = uncreated(snapshot, placement?.assignments ?? [])
  const isStuckOn = (id: NodeId): boolean => stuck.some(({ nodeId }) => nodeId === id)
  const current = remembered.filter((each) => isStuckOn(each.nodeId) || !hasCreatedSince(snapshot, each))
  const fresh = new Map<NodeId, AvoidedNode>()
  for (const { id, nodeId } of stuck) {
    if (current.some((each) => each.nodeId === nodeId) || fresh.has(nodeId)) continue
    const cause = (containerCause(seen(id)) ?? '').slice(0, MAX_CAUSE)
    fresh.set(nodeId, { nodeId, until: new Date(now + AVOIDED_MS).toISOString(), cause })
  }
  const isSame = fresh.size === 0 && current.length === remembered.length
  return isSame ? placement?.avoided : [...current, ...fresh.values()].slice(-MOST_AVOIDED)
}

/** Whether a replica that was started on the node after its failures serves. */
const hasCreatedSince = (
  { seen, placement }: Pick<PlacementSnapshot, 'seen' | 'placement'>,
  { nodeId, until }: AvoidedNode,
): boolean =>
  placement?.assignments.some((each) => {
    const observed = seen(each.id)
    const startedAt = Date.parse(observed?.startedAt ?? '')
    return each.nodeId === nodeId && isReady(observed) && startedAt > Date.parse(until) - AVOIDED_MS
  }) === true
