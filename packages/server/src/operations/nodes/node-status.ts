// What silence makes of a node, and how that is written and told: by the replica that holds its session, or by the owner of
// its shard when nobody does. DECISIONS 5 (Node), SAFETY 4e.

import type { NodeStatus, TenantId } from '@holdfast/contract'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type NewEvent, recordEvent } from '../record-write.ts'
import { nodeSubject } from './node-events.ts'

export interface SilenceTimes {
  readonly unreachableMs: number
  readonly failedMs: number
}

export type ToldStatus = Exclude<NodeStatus, 'pending'>

/** Undefined where the silence is too short, or was told already. */
export function dueToSilence(
  told: NodeStatus,
  silentMs: number,
  { unreachableMs, failedMs }: SilenceTimes,
): 'unreachable' | 'failed' | undefined {
  if (silentMs >= failedMs) return told === 'failed' ? undefined : 'failed'
  return silentMs >= unreachableMs && told === 'ready' ? 'unreachable' : undefined
}

export function stageStatus(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  node: StoredNode,
  status: ToldStatus,
  times: SilenceTimes,
): void {
  const address = inTenant(tenant, nodes, node.id)
  transaction.put(address, { ...node, status, statusSince: timestamp(clock) })
  // Control-plane nodes have no such events (DECISIONS 5).
  if (!node.controlPlane) recordEvent(transaction, clock, tenant, statusEvent(node, status, times))
}

const SEVERITIES = { ready: 'info', unreachable: 'warning', failed: 'error' } as const

function statusEvent(node: StoredNode, status: ToldStatus, times: SilenceTimes): NewEvent {
  const seconds = Math.round((status === 'failed' ? times.failedMs : times.unreachableMs) / 1000)
  return {
    type: `node.${status}`,
    severity: SEVERITIES[status],
    subject: nodeSubject(node),
    cause: `${node.session.epoch} ${node.statusSince}`,
    reason: status === 'ready' ? node.status : 'silent',
    message:
      status === 'ready'
        ? `Node ${node.name} is ready; it was ${node.status}.`
        : `Node ${node.name} was not heard for ${seconds} s.`,
    data: { was: node.status },
  }
}
