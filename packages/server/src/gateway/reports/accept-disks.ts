// Accepts a node's report of how full its disks are, and stores it if it changed. A nearly full disk of the engine makes the
// node degraded, so that it gets no new work. See docs/design/liveness.md#faults-of-a-node

import { defined, type NodeDisks, type NodeFault } from '@holdfast/contract'
import { isDiskNews, isUnderPressure, nextHealth, usedPercent } from '@holdfast/core'
import { diskPressureEvent, diskRecoveredEvent } from '../../operations/nodes/node-events.ts'
import { type NewEvent, recordEvent } from '../../operations/record-write.ts'
import { timestamp } from '../../ports/clock.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { isHolder } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

/** An agent measures less often. A report that is dropped is sent again with the next complete set. */
const SHORTEST_MS = 5_000

/** Stores a report. Never rejects. */
export async function acceptDisks(
  context: GatewayContext,
  session: Session,
  report: NodeDisks,
): Promise<void> {
  const { heardAt, disksAt, nodeId } = session
  if (disksAt !== undefined && heardAt - disksAt < SHORTEST_MS) return
  session.disksAt = heardAt
  try {
    await context.store.transact((transaction) => stage(context, session, report, transaction))
  } catch (error) {
    context.log.warn({ nodeId, error: String(error) }, 'disk report write failed')
  }
}

function stage(
  { clock, replica }: GatewayContext,
  session: Session,
  report: NodeDisks,
  transaction: Transaction,
): TransactionDecision<undefined> {
  const address = inTenant(session.tenant, nodes, session.nodeId)
  const node = transaction.get(address)
  if (node === undefined || !isHolder(node, session, replica)) return { kind: 'abort', result: undefined }
  const next = withDisks(node, report, timestamp(clock))
  if (next === undefined) return { kind: 'abort', result: undefined }
  transaction.put(address, next)
  const event = pressureEvent(node, next)
  if (event !== undefined) recordEvent(transaction, clock, session.tenant, event)
  return { kind: 'commit', result: undefined }
}

/** The node with the reported disks; undefined if nothing changes. */
export function withDisks(node: StoredNode, disks: NodeDisks, now: string): StoredNode | undefined {
  const { health: before, ...others } = node
  const was = faultOf(node) !== undefined
  const is = isUnderPressure(was, usedPercent(disks.engine))
  if (is === was && !isDiskNews(node.disks, disks)) return undefined
  const health = is === was ? before : nextHealth(node, 'disk_pressure', is ? { since: now } : undefined)
  return { ...others, disks, ...defined({ health }) }
}

/** The pressure that was reported in the current session, or carried over to it. */
const faultOf = ({ session, health }: StoredNode): NodeFault | undefined =>
  health?.epoch === session.epoch ? health.faults.find(({ reason }) => reason === 'disk_pressure') : undefined

/** The event about a pressure that began or ended. */
function pressureEvent(before: StoredNode, next: StoredNode): NewEvent | undefined {
  const [was, is] = [faultOf(before), faultOf(next)]
  const percent = next.disks === undefined ? 0 : Math.round(usedPercent(next.disks.engine))
  if (was === undefined && is !== undefined) return diskPressureEvent(next, is, percent)
  return was !== undefined && is === undefined ? diskRecoveredEvent(next, was, percent) : undefined
}
