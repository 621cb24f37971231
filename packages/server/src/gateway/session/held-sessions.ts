// The sessions that this replica holds, at most one per node; a newer session replaces an older one.

import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { type CloseReason, closeSession, newSession, type Session } from './session.ts'

export interface HeldSessions {
  readonly all: ReadonlyMap<string, Session>
  /** Call this once the cache contains the session's record. False if the record already names a newer session. */
  add(session: Session): boolean
  /**
   * Drops the session unless the node's record still names it. If the record names a session of this replica that is not
   * held, it is held without a socket from now on, because no other replica would report its silence.
   */
  review(node: NodeAddress): void
  drop(session: Session, code: CloseReason): void
}

const ENDS: ReadonlySet<CloseReason> = new Set(['session_replaced', 'server_closing'])

export function createHeldSessions(
  context: GatewayContext,
  onGone: (session: Session) => void,
): HeldSessions {
  const { store, replica } = context
  const all = new Map<string, Session>()
  const recordOf = ({ tenant, nodeId }: NodeAddress) => store.get(inTenant(tenant, nodes, nodeId))?.record
  const drop = (session: Session, code: CloseReason): void => {
    // After a protocol violation this replica still reports the node's silence.
    if (ENDS.has(code) && all.get(session.nodeId) === session) all.delete(session.nodeId)
    const { socket } = session
    session.socket = undefined
    if (socket !== undefined) {
      context.counts.sessionsCut += 1
      closeSession(socket, code)
    }
    onGone(session)
  }
  return {
    all,
    drop,
    // An older session was dropped when the record with this epoch reached the cache.
    add(session) {
      if (!isHolder(recordOf(session), session, replica)) return false
      all.set(session.nodeId, session)
      return true
    },
    review(address) {
      const node = recordOf(address)
      const session = all.get(address.nodeId)
      if (session !== undefined && session.tenant !== address.tenant) return
      // Another replica may have written a status while this one was away; the next sweep corrects it.
      if (session !== undefined && node !== undefined && isHolder(node, session, replica))
        session.reportedStatus = node.status
      else if (session !== undefined) drop(session, 'session_replaced')
      if (node === undefined || all.has(address.nodeId)) return
      if (node.session.replica !== replica || node.status === 'failed') return
      const { generation, status: reportedStatus } = node
      const opened = { ...address, generation, epoch: node.session.epoch, reportedStatus }
      all.set(address.nodeId, newSession(opened, undefined, performance.now()))
    },
  }
}

/** Whether the record names this session and no other. */
export function isHolder(node: StoredNode | undefined, session: Session, replica: string): boolean {
  if (node?.generation !== session.generation) return false
  return node.session.epoch === session.epoch && node.session.replica === replica
}
