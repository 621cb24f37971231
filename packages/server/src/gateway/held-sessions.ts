// The sessions of this replica, one for each node; who is newer stays. SAFETY 4e, 2 row 13.

import type { NodeId } from '@holdfast/contract'
import { nodes, type StoredNode } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { Running } from './deps.ts'
import { type FarewellCode, type Session, sayFarewell } from './session.ts'

export interface HeldSessions {
  readonly all: ReadonlyMap<string, Session>
  /** Once the cache has what opened it. False where the node's record names a newer session already. */
  add(session: Session): boolean
  /** Cuts the session unless the node's record, as the cache has it, still names it. */
  review(nodeId: NodeId): void
  drop(session: Session, code: FarewellCode): void
}

export function createHeldSessions(running: Running, onGone: (session: Session) => void): HeldSessions {
  const { store, replica } = running
  const all = new Map<string, Session>()
  const recordOf = ({ tenant, nodeId }: Session) => store.get(inTenant(tenant, nodes, nodeId))?.record
  const drop = (session: Session, code: FarewellCode): void => {
    if (all.get(session.nodeId) === session) all.delete(session.nodeId)
    const { socket } = session
    session.socket = undefined
    if (socket !== undefined) {
      running.counts.sessionsCut += 1
      sayFarewell(socket, code)
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
    review(nodeId) {
      const session = all.get(nodeId)
      if (session === undefined) return
      const node = recordOf(session)
      if (node === undefined || !isHolder(node, session, replica)) drop(session, 'session_replaced')
      // While we were not heard, another replica may have spoken for us: the next sweep sets it right.
      else session.told = node.status
    },
  }
}

/** Whether the record names this session and no other. */
export function isHolder(node: StoredNode | undefined, session: Session, replica: string): boolean {
  if (node?.generation !== session.generation) return false
  return node.session.epoch === session.epoch && node.session.replica === replica
}
