// Is a node there? Its beats are kept in memory; only a change of the answer is written, by the replica that holds the
// session. DECISIONS 5 (Node), SAFETY 4e, DESIGN 5.

import type { NodeStatus } from '@holdfast/contract'
import { type NewEvent, recordEvent } from '../operations/record-write.ts'
import { timestamp } from '../ports/clock.ts'
import { nodes, type StoredNode } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { Running } from './deps.ts'
import { isHolder } from './held-sessions.ts'
import { nodeSubject } from './node-subject.ts'
import type { Session } from './session.ts'
import type { GatewayTimes } from './timings.ts'

type Told = Exclude<NodeStatus, 'pending'>

/** What is to be told of the node, if that is something else than what was told last. */
export function statusDue(session: Session, now: number, times: GatewayTimes): Told | undefined {
  const silentMs = now - session.heardAt
  if (silentMs >= times.failedMs) return session.told === 'failed' ? undefined : 'failed'
  if (silentMs >= times.unreachableMs) return session.told === 'ready' ? 'unreachable' : undefined
  return session.socket !== undefined && session.told !== 'ready' ? 'ready' : undefined
}

/** False where the node is held elsewhere or gone: then it is not ours to say. */
export function tellStatus(running: Running, session: Session, status: Told): Promise<boolean> {
  const { store, clock, replica } = running
  const address = inTenant(session.tenant, nodes, session.nodeId)
  return store.transact<boolean>((transaction) => {
    const node = transaction.get(address)
    if (node === undefined || !isHolder(node, session, replica)) return { kind: 'refuse', result: false }
    if (node.status === status) return { kind: 'commit', result: true }
    transaction.put(address, { ...node, status, statusSince: timestamp(clock) })
    // Control-plane nodes have no such events (DECISIONS 5).
    if (!node.controlPlane)
      recordEvent(transaction, clock, session.tenant, statusEvent(node, status, running.times))
    return { kind: 'commit', result: true }
  })
}

const SEVERITIES = { ready: 'info', unreachable: 'warning', failed: 'error' } as const

export function statusEvent(
  node: StoredNode,
  status: Told,
  times: Pick<GatewayTimes, 'unreachableMs' | 'failedMs'>,
): NewEvent {
  const seconds = Math.round((status === 'failed' ? times.failedMs : times.unreachableMs) / 1000)
  return {
    type: `node.${status}`,
    severity: SEVERITIES[status],
    subject: nodeSubject(node),
    cause: `${node.session.epoch} ${node.statusSince}`,
    reason: status === 'ready' ? node.status : 'silent',
    message:
      status === 'ready'
        ? `Node ${node.name} is ready; it was ${node.status}.`
        : `Node ${node.name} was not heard for ${seconds} s.`,
    data: { was: node.status },
  }
}
