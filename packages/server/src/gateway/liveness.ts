// Is a node there? Its beats are kept in memory; only a change of the answer is written, by the replica that holds the
// session. DECISIONS 5 (Node), SAFETY 4e, DESIGN 5.

import { dueToSilence, stageStatus, type ToldStatus } from '../operations/nodes/node-status.ts'
import { nodes } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { Running } from './deps.ts'
import { isHolder } from './held-sessions.ts'
import type { Session } from './session.ts'
import type { GatewayTimes } from './timings.ts'

/** What is to be told of the node, if that is something else than what was told last. */
export function statusDue(session: Session, now: number, times: GatewayTimes): ToldStatus | undefined {
  const silentMs = now - session.heardAt
  if (silentMs >= times.unreachableMs) return dueToSilence(session.told, silentMs, times)
  return session.socket !== undefined && session.told !== 'ready' ? 'ready' : undefined
}

/** False where the node is held elsewhere or gone: then it is not ours to say. */
export function tellStatus(running: Running, session: Session, status: ToldStatus): Promise<boolean> {
  const { store, clock, replica, times } = running
  const { tenant, nodeId } = session
  return store.transact<boolean>((transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, nodeId))
    if (node === undefined || !isHolder(node, session, replica)) return { kind: 'refuse', result: false }
    if (node.status !== status) stageStatus(transaction, clock, tenant, node, status, times)
    return { kind: 'commit', result: true }
  })
}
