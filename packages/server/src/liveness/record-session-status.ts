// Is a node there? Its beats are kept in memory; only a change of the answer is written, by the replica that holds the
// session. DECISIONS 5 (Node, Control-plane node), SAFETY 4e, DESIGN 5.

import type { Running } from '../gateway/deps.ts'
import { isHolder } from '../gateway/session/held-sessions.ts'
import type { Session } from '../gateway/session/session.ts'
import type { GatewayTimes } from '../gateway/timings.ts'
import { nodes } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { FailureDetector } from './failure-detector.ts'
import { type ReportedStatus, stageStatus, statusAfterSilence } from './node-status.ts'

type Board = Pick<FailureDetector, 'countedFrom' | 'holding' | 'isServing' | 'mayFail'>

/** Our own absence is not the node's silence. */
export const silentMs = ({ heardAt }: Session, now: number, { countedFrom }: Board): number =>
  now - Math.max(heardAt, countedFrom)

/** What is to be told of the node, if that is something else than what was told last. */
export function statusDue(
  session: Session,
  now: number,
  times: GatewayTimes,
  board: Board,
): ReportedStatus | undefined {
  const isThere = session.socket !== undefined && now - session.heardAt < times.unreachableMs
  if (isThere || board.isServing(session.nodeId, now)) return session.told === 'ready' ? undefined : 'ready'
  const due = statusAfterSilence(session.told, silentMs(session, now, board), times)
  return due !== 'failed' || board.mayFail(session.nodeId, now) ? due : undefined
}

/** `elsewhere`: the node is held elsewhere or gone, so it is not ours to say. `held`: not now. */
export async function recordStatus(
  running: Pick<Running, 'store' | 'clock' | 'replica' | 'times'>,
  session: Session,
  status: ReportedStatus,
  now: number,
  board: Board,
): Promise<'told' | 'elsewhere' | 'held'> {
  const { store, clock, replica, times } = running
  const { tenant, nodeId } = session
  // Whoever is silent beside it must be known before anything is given up.
  if (status === 'failed') await store.fresh()
  return store.transact((transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, nodeId))
    if (node === undefined || !isHolder(node, session, replica)) return { kind: 'abort', result: 'elsewhere' }
    if (status === 'failed' && !board.mayFail(nodeId, now)) return { kind: 'abort', result: 'held' }
    const { holding } = board
    if (node.status !== status) stageStatus(transaction, clock, tenant, node, status, { times, holding })
    return { kind: 'commit', result: 'told' }
  })
}
