// Records why a node removes nothing, as the heartbeats of its agent state it, and that it may remove again. Only changes are
// written, and few of them, however an agent behaves. See docs/design/restored-stores.md#agents

import { timestamp } from '../../ports/clock.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { heldNode } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

/** The shortest time between two writes of a session. A hold begins and ends once for each restore. */
const SHORTEST_MS = 5_000

/** When the hold was last written in a session, by the monotonic clock of this process. */
const writtenAt = new WeakMap<Session, number>()

/** `nowMs`: current time of the monotonic clock. `reason` is undefined if the node may remove. Never rejects. */
export async function acceptHold(
  { store, clock, replica, log }: GatewayContext,
  session: Session,
  reason: string | undefined,
  nowMs: number,
): Promise<void> {
  const address = inTenant(session.tenant, nodes, session.nodeId)
  const isKnown = (node: StoredNode | undefined): boolean =>
    node === undefined || node.hold?.reason === reason
  if (isKnown(store.get(address)?.record)) return
  if (nowMs - (writtenAt.get(session) ?? Number.NEGATIVE_INFINITY) < SHORTEST_MS) return
  writtenAt.set(session, nowMs)
  session.writes += 1
  try {
    await store.transact<undefined>((transaction) => {
      const node = heldNode(transaction, session, replica)
      if (node === undefined || isKnown(node)) return { kind: 'abort', result: undefined }
      const { hold: _hold, ...others } = node
      const hold = reason === undefined ? {} : { hold: { reason, since: timestamp(clock) } }
      transaction.put(address, { ...others, ...hold })
      return { kind: 'commit', result: undefined }
    })
  } catch (error) {
    // The next heartbeat states the same again.
    log.warn({ nodeId: session.nodeId, error: String(error) }, 'hold of a node could not be written')
  }
}
