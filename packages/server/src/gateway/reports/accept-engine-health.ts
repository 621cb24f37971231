// Records that the engine of a node does not answer, has failed, or answers again, from the heartbeats of the node's agent.
// Only changes are written, and at most one in the time after which an engine is silent, however an agent behaves.
// See docs/design/liveness.md#faults-of-a-node

import { defined, type EngineHealth, type NodeFault } from '@holdfast/contract'
import { type EngineState, faultsOf, judgeEngine, nextHealth } from '@holdfast/core'
import { engineRecoveredEvent, engineSilentEvent } from '../../operations/nodes/node-events.ts'
import { recordEvent } from '../../operations/record-write.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { heldNode } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

/** When the engine's state was last written in a session, by the monotonic clock of this process. */
const writtenAt = new WeakMap<Session, number>()

/** `nowMs`: current time of the monotonic clock. */
export async function acceptEngineHealth(
  context: GatewayContext,
  session: Session,
  report: EngineHealth,
  nowMs: number,
): Promise<void> {
  const { store, times, log } = context
  const { tenant, nodeId } = session
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  if (node === undefined || node.session.epoch !== session.epoch) return
  if (judgeEngine(stateOf(node), report, times) === stateOf(node)) return
  if (nowMs - (writtenAt.get(session) ?? Number.NEGATIVE_INFINITY) < times.engineSilentMs) return
  writtenAt.set(session, nowMs)
  session.writes += 1
  try {
    await store.transact((transaction) => stage(context, session, report, transaction))
  } catch (error) {
    // The next heartbeat reports the same again.
    writtenAt.delete(session)
    log.warn({ nodeId, error: String(error) }, 'engine state write failed')
  }
}

const faultOf = (node: StoredNode): NodeFault | undefined =>
  faultsOf(node).find(({ reason }) => reason === 'engine_silent')

function stateOf(node: StoredNode): EngineState {
  const fault = faultOf(node)
  if (fault === undefined) return 'answering'
  return fault.failed === true ? 'failed' : 'silent'
}

function stage(
  { clock, replica, times }: GatewayContext,
  session: Session,
  report: EngineHealth,
  transaction: Transaction,
): TransactionDecision<void> {
  const { tenant } = session
  const node = heldNode(transaction, session, replica)
  if (node === undefined) return { kind: 'abort', result: undefined }
  const before = faultOf(node)
  const state = judgeEngine(stateOf(node), report, times)
  if (state === stateOf(node)) return { kind: 'abort', result: undefined }
  const since = before?.since ?? new Date(clock.now() - report.silentMs).toISOString()
  const fault: NodeFault | undefined =
    state === 'answering'
      ? undefined
      : { reason: 'engine_silent', since, ...(state === 'failed' ? { failed: true } : {}) }
  const { health: _health, ...others } = node
  const health = nextHealth(node, 'engine_silent', fault)
  transaction.put(inTenant(tenant, nodes, node.id), { ...others, ...defined({ health }) })
  if (fault !== undefined) recordEvent(transaction, clock, tenant, engineSilentEvent(node, fault))
  else if (before !== undefined) recordEvent(transaction, clock, tenant, engineRecoveredEvent(node, before))
  return { kind: 'commit', result: undefined }
}
