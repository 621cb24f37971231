// Derives a node's status from its silence and writes the status with an event. The server replica that holds the node's
// session does this, or the owner of the shard if the session has no holder. See docs/design/liveness.md#node-states.

import type { NodeId, NodeStatus, TenantId } from '@holdfast/contract'
import { hasFailedEngine } from '@holdfast/core'
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
 * The new status of a silent node; undefined if the status does not change. A node becomes unreachable before it fails,
 * because the other server replicas recognize a mass failure by the number of unreachable nodes.
 */
export function statusAfterSilence(
  current: NodeStatus,
  silentMs: number,
  { unreachableMs, failedMs }: Times,
): 'unreachable' | 'failed' | undefined {
  if (silentMs >= unreachableMs && current === 'ready') return 'unreachable'
  return silentMs >= failedMs && current === 'unreachable' ? 'failed' : undefined
}

/**
 * Whether the node has failed, or its engine has. The last observations of replicas on such a node are no longer valid.
 */
export function isLost(store: Pick<Store, 'get'>, tenant: TenantId, id: NodeId): boolean {
  const node = store.get(inTenant(tenant, nodes, id))?.record
  return node !== undefined && (node.status === 'failed' || hasFailedEngine(node))
}

/** Facts for the text of a status event. */
export interface StatusFacts {
  readonly times: Times
  /** Whether a mass-failure hold is in effect: many nodes fell silent at once, so none is declared failed. */
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
  recordEvent(transaction, clock, tenant, statusEvent(node, status, facts))
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

/** Text added to the event during a mass-failure hold. It has no numbers, which would disclose other tenants' nodes. */
const HELD = ' Many nodes fell silent at once, so no replicas are replaced for now.'

function messageOf({ name, status: was }: StoredNode, status: ReportedStatus, facts: StatusFacts): string {
  if (status === 'ready') return `Node ${name} is ready; it was ${was}.`
  const { unreachableMs, failedMs } = facts.times
  const seconds = Math.round((status === 'failed' ? failedMs : unreachableMs) / 1000)
  const held = status === 'unreachable' && facts.holding ? HELD : ''
  return `Node ${name} has sent no heartbeat for ${seconds} s.${held}`
}
