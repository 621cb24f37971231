// The sessions that this server replica holds, at most one per node. A newer session of a node replaces the older one.

import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { type CloseReason, closeSession, newSession, type Session } from './session.ts'

export interface HeldSessions {
  readonly all: ReadonlyMap<string, Session>
  /** Adds a session once the cache contains its record. Returns false if the record already names a newer session. */
  add(session: Session): boolean
  /**
   * Drops the node's session unless the node's record still names it. If the record names another session of this server
   * replica, adds that session without a socket, so that this server replica reports the node as silent.
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
    // After a protocol violation the session is kept without a socket, so that the node is reported as silent.
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
    // Adds the session. `review` has dropped an older one, when the cache received the record with the new epoch.
    add(session) {
      if (!isHolder(recordOf(session), session, replica)) return false
      all.set(session.nodeId, session)
      return true
    },
    review(address) {
      const node = recordOf(address)
      const session = all.get(address.nodeId)
      if (session !== undefined && session.tenant !== address.tenant) return
      // If another server replica wrote a wrong status while this one was suspended, the next sweep corrects the status.
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

/**
 * The record of the session's node; undefined if another session is the current one. The record is compared at commit, so
 * an older session cannot write once a newer one is recorded.
 */
export function heldNode(
  transaction: Transaction,
  session: Session,
  replica: string,
): StoredNode | undefined {
  const node = transaction.get(inTenant(session.tenant, nodes, session.nodeId))
  return isHolder(node, session, replica) ? node : undefined
}

/** Whether the node's record names `session`, on server replica `replica`, as the node's current session. */
export function isHolder(node: StoredNode | undefined, session: Session, replica: string): boolean {
  if (node?.generation !== session.generation) return false
  return node.session.epoch === session.epoch && node.session.replica === replica
}
