// A node as a view holds it: the facts, with the two sums that each placing changes, and its place in the columns.

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from './facts.ts'
import { sameStand } from './residency.ts'

export interface HeldNode extends NodeFacts {
  readonly requested: { -readonly [kind in keyof Capacity]: number }
  readonly replicas: Map<string, number>
  /** Replicas of all deployments. */
  total: number
  /** Index in the columns of the view. */
  slot: number
}

export function holdNode(facts: NodeFacts, slot: number): HeldNode {
  const replicas = new Map(facts.replicas)
  const total = [...replicas.values()].reduce((sum, count) => sum + count, 0)
  return { ...facts, requested: { ...facts.requested }, replicas, total, slot }
}

/** Whether a filter that reads the node's own record alone may answer otherwise than before. */
export function sameRecord(before: NodeFacts, after: NodeFacts): boolean {
  return (
    before.name === after.name &&
    before.status === after.status &&
    before.schedulable === after.schedulable &&
    before.controlPlane === after.controlPlane &&
    before.claim === after.claim &&
    sameStand(before, after)
  )
}

/** A replica that requests nothing still weighs something, or all of them would go to one node. It counts in ranking only. */
const NOMINAL: Capacity = { cpuMillis: 50, memoryBytes: 64 * 1024 * 1024 }

/** The share of the node that is free, of the scarcer of CPU and memory; a node that reported no capacity comes last. */
export function freeShare(node: HeldNode): number {
  return Math.min(freeShareOf(node, 'cpuMillis'), freeShareOf(node, 'memoryBytes'))
}

function freeShareOf({ capacity, requested, total }: HeldNode, kind: keyof Capacity): number {
  if (capacity[kind] <= 0) return Number.NEGATIVE_INFINITY
  return 1 - Math.max(requested[kind], total * NOMINAL[kind]) / capacity[kind]
}
