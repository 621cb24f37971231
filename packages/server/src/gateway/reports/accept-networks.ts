// Accepts a node's reports about its networks: only of networks of this node, only from the node's current session, and
// only if they changed. A report that cannot be stored is sent again by the agent after the next complete set.
// See docs/design/networks.md#networks-that-agents-are-sent

import type { ObservedNetwork } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { networkReports, networks } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { getOr, inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { NetworkIndex } from '../desired/network-index.ts'
import { heldNode } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

/** Reports per transaction. Each needs three operations, and a transaction may have at most 120. */
const MAX_BATCH = 30
/** Limit of writes per node and rate-limit window. */
const WRITES_IN_WINDOW = 100

export function acceptNetworks(
  context: GatewayContext,
  index: NetworkIndex,
  session: Session,
  observed: readonly ObservedNetwork[],
): void {
  const changed = observed.filter((report) => isNews(context, index, session, report))
  for (let from = 0; from < changed.length && session.writes < WRITES_IN_WINDOW; from += MAX_BATCH) {
    session.writes += 1
    context.counts.statusWrites += 1
    const batch = changed.slice(from, from + MAX_BATCH)
    context.store
      .transact((transaction) => stage(context, session, batch, transaction))
      .catch((error: unknown) =>
        context.log.warn({ nodeId: session.nodeId, error: String(error) }, 'network report write failed'),
      )
  }
}

const STATES: readonly string[] = ['present', 'removed', 'failed']
/** One word of the protocol, never text of the machine. */
const REASON = /^[a-z0-9_]{0,64}$/

function isNews(
  { store }: GatewayContext,
  index: NetworkIndex,
  session: Session,
  { id, state, reason }: ObservedNetwork,
): boolean {
  const desired = index.networkOf(session, id)
  if (desired === undefined || !STATES.includes(state) || !REASON.test(reason)) return false
  // `removed` is valid only for a network to be removed; otherwise a network that is there would be forgotten.
  if (state === 'removed' && desired.desired !== 'removed') return false
  const stored = store.get(inTenant(session.tenant, networkReports, id))?.record
  return stored?.state !== state || stored.reason !== reason || stored.nodeId !== session.nodeId
}

function stage(
  { clock, replica }: GatewayContext,
  session: Session,
  batch: readonly ObservedNetwork[],
  transaction: Transaction,
): TransactionDecision<void> {
  const { tenant, nodeId } = session
  if (heldNode(transaction, session, replica) === undefined) return { kind: 'abort', result: undefined }
  const at = timestamp(clock)
  for (const { id, state, reason } of batch) {
    // The network is compared at commit, so no report is stored for a network that was just deleted.
    const network = getOr(transaction, inTenant(tenant, networks, id), undefined)
    if (network?.nodeId !== nodeId || (state === 'removed' && network.desired !== 'removed')) continue
    transaction.put(inTenant(tenant, networkReports, id), { v: 1, nodeId, state, reason, at })
  }
  return { kind: 'commit', result: undefined }
}
