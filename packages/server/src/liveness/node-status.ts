// What silence makes of a node, and how that is written and told: by the replica that holds its session, or by the owner of
// its shard when nobody does. DECISIONS 5 (Node), SAFETY 4e.

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
 * Undefined where the silence is too short, or was told already. Nobody fails who was not called unreachable before: that
 * is how the whole cell learns how many are silent.
 */
export function statusAfterSilence(
  told: NodeStatus,
  silentMs: number,
  { unreachableMs, failedMs }: Times,
): 'unreachable' | 'failed' | undefined {
  if (silentMs >= unreachableMs && told === 'ready') return 'unreachable'
  return silentMs >= failedMs && told === 'unreachable' ? 'failed' : undefined
}

/** The node is given up: what was last seen of its replicas no longer counts. */
export const isLost = (store: Pick<Store, 'get'>, tenant: TenantId, id: NodeId): boolean =>
  store.get(inTenant(tenant, nodes, id))?.record.status === 'failed'

/** What the event tells beside the status itself. */
export interface StatusStory {
  readonly times: Times
  /** Many nodes are silent at once, so none is given up. */
  readonly holding: boolean
}

export function stageStatus(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  node: StoredNode,
  status: ReportedStatus,
  story: StatusStory,
): void {
  const address = inTenant(tenant, nodes, node.id)
  transaction.put(address, { ...node, status, statusSince: timestamp(clock) })
  // Control-plane nodes have no such events (DECISIONS 5).
  if (!node.controlPlane) recordEvent(transaction, clock, tenant, statusEvent(node, status, story))
}

const SEVERITIES = { ready: 'info', unreachable: 'warning', failed: 'error' } as const

function statusEvent(node: StoredNode, status: ReportedStatus, story: StatusStory): NewEvent {
  return {
    type: `node.${status}`,
    severity: SEVERITIES[status],
    subject: nodeSubject(node),
    cause: `${node.session.epoch} ${node.statusSince}`,
    reason: status === 'ready' ? node.status : 'silent',
    message: messageOf(node, status, story),
    data: { was: node.status },
  }
}

/** How many others there are is no tenant's business. */
const HELD = ' Many nodes fell silent at once: nothing is replaced for now.'

function messageOf({ name, status: was }: StoredNode, status: ReportedStatus, story: StatusStory): string {
  if (status === 'ready') return `Node ${name} is ready; it was ${was}.`
  const { unreachableMs, failedMs } = story.times
  const seconds = Math.round((status === 'failed' ? failedMs : unreachableMs) / 1000)
  const held = status === 'unreachable' && story.holding ? HELD : ''
  return `Node ${name} was not heard for ${seconds} s.${held}`
}
