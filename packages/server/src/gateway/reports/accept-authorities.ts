// Accepts a node's confirmation of the roots that it trusts, and stores it if it changed. See
// docs/design/certificates.md#the-next-authority

import { statedAuthorities } from '../../operations/nodes/trusted-authorities.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { isHolder } from '../session/held-sessions.ts'
import { type Session, WRITES_IN_WINDOW } from '../session/session.ts'

/** Stores a confirmation. Never rejects: the agent repeats it after the next complete set. */
export async function acceptAuthorities(
  context: GatewayContext,
  session: Session,
  pins: readonly string[],
): Promise<void> {
  const { store, replica, log } = context
  const address = inTenant(session.tenant, nodes, session.nodeId)
  const known = store.get(address)?.record
  if (known === undefined || withAuthorities(known, pins) === known) return
  session.writes += 1
  if (session.writes > WRITES_IN_WINDOW) return
  const stage = (transaction: Transaction): TransactionDecision<undefined> => {
    const node = transaction.get(address)
    if (node === undefined || !isHolder(node, session, replica)) return { kind: 'abort', result: undefined }
    const next = withAuthorities(node, pins)
    if (next === node) return { kind: 'abort', result: undefined }
    transaction.put(address, next)
    return { kind: 'commit', result: undefined }
  }
  try {
    await store.transact(stage)
  } catch (error) {
    log.warn({ nodeId: session.nodeId, error: String(error) }, 'confirmed authorities write failed')
  }
}

/** The record of a node whose current session has stated these roots; the same record if nothing changes. */
export function withAuthorities(node: StoredNode, pins: readonly string[]): StoredNode {
  const { generation, session } = node
  return statedAuthorities(node)?.join() === pins.join()
    ? node
    : { ...node, authorities: { generation, epoch: session.epoch, pins: [...pins] } }
}
