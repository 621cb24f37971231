// The sessions of this replica, one for each node; who is newer stays. SAFETY 4e, 2 row 13.

import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { type CloseReason, closeSession, newSession, type Session } from './session.ts'

export interface HeldSessions {
  readonly all: ReadonlyMap<string, Session>
  /** Once the cache has what opened it. False where the node's record names a newer session already. */
  add(session: Session): boolean
  /**
   * Cuts the session unless the node's record, as the cache has it, still names it. Where the record names a session of
   * ours that is not held, it is held without a socket from now on: nobody else would tell of its silence.
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
    // Sent away for what it said, it is still ours to say when it has been silent for too long.
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
    // An older session is gone by now: it was cut when the record with our epoch reached the cache.
    add(session) {
      if (!isHolder(recordOf(session), session, replica)) return false
      all.set(session.nodeId, session)
      return true
    },
    review(address) {
      const node = recordOf(address)
      const session = all.get(address.nodeId)
      if (session !== undefined && session.tenant !== address.tenant) return
      // While we were not heard, another replica may have spoken for us: the next sweep sets it right.
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
