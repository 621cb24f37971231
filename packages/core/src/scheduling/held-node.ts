// A node in a scheduling view: its facts, its sums over all replicas, and its slot (its index in the node arrays).

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from './facts.ts'
import { sameAgent } from './filters/agent-version.ts'
import { sameFaults } from './filters/engine.ts'
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
    sameFaults(before, after) &&
    sameStand(before, after)
  )
}

/** Compares each fact about a node, apart from those in its record. The type requires every new fact to be compared too. */
const SAME: {
  readonly [fact in Exclude<keyof NodeFacts, RecordFact>]-?: (before: NodeFacts, after: NodeFacts) => boolean
} = {
  id: (before, after) => before.id === after.id,
  capacity: (before, after) => sameCapacity(before.capacity, after.capacity),
  requested: (before, after) => sameCapacity(before.requested, after.requested),
  attested: ({ attested: before }, { attested: after }) =>
    before.country === after.country && before.region === after.region,
  replicas: ({ replicas: before }, { replicas: after }) =>
    before.size === after.size && [...before].every(([name, count]) => after.get(name) === count),
  pool: ({ pool: before }, { pool: after }) =>
    before?.poolBytes === after?.poolBytes && before?.claimedBytes === after?.claimedBytes,
}

type RecordFact =
  | 'name'
  | 'status'
  | 'schedulable'
  | 'controlPlane'
  | 'claim'
  | 'agent'
  | 'faults'
  | 'labels'
  | 'hiddenCountry'

const COMPARISONS = Object.values(SAME)

/** Whether two versions of a node are equal in everything, including its replicas. */
export const sameFacts = (before: NodeFacts, after: NodeFacts): boolean =>
  sameRecord(before, after) && COMPARISONS.every((isSame) => isSame(before, after))

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
