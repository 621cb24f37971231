// A node in a scheduling view: its facts, its sums over all replicas, and its slot (its index in the node arrays).

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from './facts.ts'
import { sameAgent } from './filters/agent-version.ts'
import { sameStand } from './residency.ts'

export interface HeldNode extends NodeFacts {
  readonly requested: { -readonly [kind in keyof Capacity]: number }
  readonly replicas: Map<string, number>
  /** The number of replicas of all deployments on the node. */
  total: number
  /** The index of the node in the node arrays of the scheduling view. */
  slot: number
}

export function holdNode(facts: NodeFacts, slot: number): HeldNode {
  const replicas = new Map(facts.replicas)
  const total = [...replicas.values()].reduce((sum, count) => sum + count, 0)
  return { ...facts, requested: { ...facts.requested }, replicas, total, slot }
}

/** Whether two versions of a node's record are equal for all filters that read only the record. */
export function sameRecord(before: NodeFacts, after: NodeFacts): boolean {
  return (
    before.name === after.name &&
    before.status === after.status &&
    before.schedulable === after.schedulable &&
    before.controlPlane === after.controlPlane &&
    before.claim === after.claim &&
    sameAgent(before.agent, after.agent) &&
    sameStand(before, after)
  )
}

/** Whether two versions of a node are equal in everything, including its replicas. */
export function sameFacts(before: NodeFacts, after: NodeFacts): boolean {
  return (
    sameRecord(before, after) &&
    sameCapacity(before.capacity, after.capacity) &&
    sameCapacity(before.requested, after.requested) &&
    before.attested.country === after.attested.country &&
    before.attested.region === after.attested.region &&
    before.replicas.size === after.replicas.size &&
    [...before.replicas].every(([name, count]) => after.replicas.get(name) === count)
  )
}

const sameCapacity = (left: Capacity, right: Capacity): boolean =>
  left.cpuMillis === right.cpuMillis && left.memoryBytes === right.memoryBytes

/**
 * The least capacity that each replica counts for when nodes are ranked. Without this minimum, all replicas without
 * resource requests would go to one node.
 */
const NOMINAL: Capacity = { cpuMillis: 50, memoryBytes: 64 * 1024 * 1024 }

/** The free share of CPU or memory, whichever is smaller. A node that reported no capacity ranks last. */
export function freeShare(node: HeldNode): number {
  return Math.min(freeShareOf(node, 'cpuMillis'), freeShareOf(node, 'memoryBytes'))
}

function freeShareOf({ capacity, requested, total }: HeldNode, kind: keyof Capacity): number {
  if (capacity[kind] <= 0) return Number.NEGATIVE_INFINITY
  return 1 - Math.max(requested[kind], total * NOMINAL[kind]) / capacity[kind]
}
