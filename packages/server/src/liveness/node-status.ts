// Derives a node's status from its silence and writes it with its event. The replica that holds the session does this, or
// the owner of the shard if no replica holds it. See docs/design/liveness.md#node-states.

import type { NodeId, NodeStatus, TenantId } from '@holdfast/contract'
import { nodeSubject } from '../operations/nodes/node-events.ts'
import { type NewEvent, recordEvent } from '../operations/record-write.ts'
import { type Clock, timestamp } from '../ports/clock.ts'
import { nodes, type StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant, type Transaction } from '../store/transaction.ts'
import type { FailureTimes } from './failure-detector.ts'

export type ReportedStatus = Exclude<NodeStatus, 'pending'>

type Times = Pick<FailureTimes, 'unreachableMs' | 'failedMs'>

/**
 * Undefined if the status does not change. A node fails only after it was unreachable, because the other replicas learn from
 * that status how many nodes are silent.
 */
export function statusAfterSilence(
  current: NodeStatus,
  silentMs: number,
  { unreachableMs, failedMs }: Times,
): 'unreachable' | 'failed' | undefined {
  if (silentMs >= unreachableMs && current === 'ready') return 'unreachable'
  return silentMs >= failedMs && current === 'unreachable' ? 'failed' : undefined
}

/** The node has failed, so the last observations of its replicas are void. */
export const isLost = (store: Pick<Store, 'get'>, tenant: TenantId, id: NodeId): boolean =>
  store.get(inTenant(tenant, nodes, id))?.record.status === 'failed'

/** Facts for the event's text. */
export interface StatusFacts {
  readonly times: Times
  /** A mass-failure hold is in effect. */
  readonly holding: boolean
}

export function stageStatus(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  node: StoredNode,
  status: ReportedStatus,
  facts: StatusFacts,
): void {
  const address = inTenant(tenant, nodes, node.id)
  transaction.put(address, { ...node, status, statusSince: timestamp(clock) })
  // Control-plane nodes have no such events.
  if (!node.controlPlane) recordEvent(transaction, clock, tenant, statusEvent(node, status, facts))
}

const SEVERITIES = { ready: 'info', unreachable: 'warning', failed: 'error' } as const

function statusEvent(node: StoredNode, status: ReportedStatus, facts: StatusFacts): NewEvent {
  return {
    type: `node.${status}`,
    severity: SEVERITIES[status],
    subject: nodeSubject(node),
    cause: `${node.session.epoch} ${node.statusSince}`,
    reason: status === 'ready' ? node.status : 'silent',
    message: messageOf(node, status, facts),
    data: { was: node.status },
  }
}

/** No numbers: they would disclose other tenants' nodes. */
const HELD = ' Many nodes fell silent at once, so no replicas are replaced for now.'

function messageOf({ name, status: was }: StoredNode, status: ReportedStatus, facts: StatusFacts): string {
  if (status === 'ready') return `Node ${name} is ready; it was ${was}.`
  const { unreachableMs, failedMs } = facts.times
  const seconds = Math.round((status === 'failed' ? failedMs : unreachableMs) / 1000)
  const held = status === 'unreachable' && facts.holding ? HELD : ''
  return `Node ${name} has sent no heartbeat for ${seconds} s.${held}`
}
