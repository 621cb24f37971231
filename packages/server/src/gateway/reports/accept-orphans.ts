// Records an event when an agent reports more orphaned containers than it may remove: only from the node's current
// session, once per set of container names, and at most once a minute. The agent repeats the report after each resync.

import { orphansFoundEvent } from '../../operations/nodes/node-events.ts'
import { recordEventOnce } from '../../operations/record-write.ts'
import type { TransactionDecision } from '../../store/store.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { heldNode } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

const APART_MS = 60_000
const MAX_NAMES = 10_000
/** Docker's grammar of container names. */
const NAME = /^[a-zA-Z0-9][\w.-]{0,254}$/

const reported = new WeakMap<Session, { readonly names: string; readonly atMs: number }>()

/** Records a report of orphaned containers. `nowMs`: current time of a monotonic clock. */
export async function acceptOrphans(
  context: GatewayContext,
  session: Session,
  received: readonly string[],
  nowMs: number,
): Promise<void> {
  const names = [...new Set(received.slice(0, MAX_NAMES).filter((name) => NAME.test(name)))].sort()
  const before = reported.get(session)
  if (names.length === 0 || before?.names === names.join()) return
  if (before !== undefined && nowMs - before.atMs < APART_MS) return
  reported.set(session, { names: names.join(), atMs: nowMs })
  session.writes += 1
  try {
    await context.store.transact((transaction) => stage(context, session, names, transaction))
  } catch (error) {
    reported.delete(session)
    const facts = { nodeId: session.nodeId, error: String(error) }
    context.log.warn(facts, 'orphan report write failed, the agent will repeat it')
  }
}

function stage(
  { clock, replica }: GatewayContext,
  session: Session,
  names: readonly string[],
  transaction: Transaction,
): TransactionDecision<undefined> {
  const node = heldNode(transaction, session, replica)
  if (node === undefined) return { kind: 'abort', result: undefined }
  const isNew = recordEventOnce(transaction, clock, session.tenant, orphansFoundEvent(node, names))
  return { kind: isNew ? 'commit' : 'abort', result: undefined }
}
