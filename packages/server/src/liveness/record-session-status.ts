// Derives a node's status from its session. Heartbeats are kept in memory; only a changed status is written, by the
// server replica that holds the session. See docs/design/liveness.md#node-states.

import type { GatewayContext } from '../gateway/deps.ts'
import { heldNode } from '../gateway/session/held-sessions.ts'
import type { Session } from '../gateway/session/session.ts'
import type { GatewayTimes } from '../gateway/timings.ts'
import type { FailureDetector } from './failure-detector.ts'
import { type ReportedStatus, stageStatus, statusAfterSilence } from './node-status.ts'

type Detector = Pick<FailureDetector, 'countedFrom' | 'holding' | 'isServing' | 'mayFail'>

/** Duration of the node's silence, without the time during which this process or the store was unavailable. */
export const silentMs = ({ heardAt }: Session, now: number, { countedFrom }: Detector): number =>
  now - Math.max(heardAt, countedFrom)

/** The status to write for the session's node; undefined if the node's record already has the right status. */
export function statusDue(
  session: Session,
  now: number,
  times: GatewayTimes,
  detector: Detector,
): ReportedStatus | undefined {
  const isThere = session.socket !== undefined && now - session.heardAt < times.unreachableMs
  if (isThere || detector.isServing(session.nodeId, now))
    return session.reportedStatus === 'ready' ? undefined : 'ready'
  const due = statusAfterSilence(session.reportedStatus, silentMs(session, now, detector), times)
  return due !== 'failed' || detector.mayFail(session.nodeId, now) ? due : undefined
}

/** Writes a node's status. `elsewhere`: this process no longer holds the session; `held`: the node may not fail now. */
export async function recordStatus(
  context: Pick<GatewayContext, 'store' | 'clock' | 'replica' | 'times'>,
  session: Session,
  status: ReportedStatus,
  now: number,
  detector: Detector,
): Promise<'written' | 'elsewhere' | 'held'> {
  const { store, clock, replica, times } = context
  const { tenant, nodeId } = session
  // Before a node is declared failed, the cache must contain the current status of all other nodes.
  if (status === 'failed') await store.fresh()
  return store.transact((transaction) => {
    const node = heldNode(transaction, session, replica)
    if (node === undefined) return { kind: 'abort', result: 'elsewhere' }
    if (status === 'failed' && !detector.mayFail(nodeId, now)) return { kind: 'abort', result: 'held' }
    const { holding } = detector
    if (node.status !== status) stageStatus(transaction, clock, tenant, node, status, { times, holding })
    return { kind: 'commit', result: 'written' }
  })
}
