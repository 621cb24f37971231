// What a node tells of containers that nobody wishes and that are too many to be removed unasked: an event, once for each
// set of them, from the current session only. SAFETY 4e. A node that tells of others again and again is not listened to
// more than once a minute: its agent says it again after each complete set.

import { orphansFoundEvent } from '../../operations/nodes/node-events.ts'
import { recordEventOnce } from '../../operations/record-write.ts'
import { nodes } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { Running } from '../deps.ts'
import { isHolder } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

const APART_MS = 60_000
const MOST = 10_000
/** What an engine takes for a name. */
const NAME = /^[a-zA-Z0-9][\w.-]{0,254}$/

const told = new WeakMap<Session, { readonly names: string; readonly atMs: number }>()

/** `nowMs` of a clock that never goes back. */
export async function acceptOrphans(
  running: Running,
  session: Session,
  said: readonly string[],
  nowMs: number,
): Promise<void> {
  const names = [...new Set(said.slice(0, MOST).filter((name) => NAME.test(name)))].sort()
  const before = told.get(session)
  if (names.length === 0 || before?.names === names.join()) return
  if (before !== undefined && nowMs - before.atMs < APART_MS) return
  told.set(session, { names: names.join(), atMs: nowMs })
  session.writes += 1
  try {
    await running.store.transact((transaction) => stage(running, session, names, transaction))
  } catch (error) {
    told.delete(session)
    const facts = { nodeId: session.nodeId, error: String(error) }
    running.log.warn(facts, 'what a node told of its orphans could not be stored; it will say it again')
  }
}

function stage(
  { clock, replica }: Running,
  session: Session,
  names: readonly string[],
  transaction: Transaction,
): TransactionDecision<undefined> {
  const { tenant, nodeId } = session
  // Compared at commit: an older session cannot write once a newer one stands in the record.
  const node = transaction.get(inTenant(tenant, nodes, nodeId))
  if (node === undefined || !isHolder(node, session, replica)) return { kind: 'abort', result: undefined }
  const isNews = recordEventOnce(transaction, clock, tenant, orphansFoundEvent(node, names))
  return { kind: isNews ? 'commit' : 'abort', result: undefined }
}
