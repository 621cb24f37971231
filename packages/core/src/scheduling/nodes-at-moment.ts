// The nodes of a tenant at one moment, copied from a scheduling view, so that they can be explained later and step by step.

import type { Capacity } from '@holdfast/contract'
import { compareByName, sortedByName } from './check-candidates.ts'
import { type Columns, nodesByName, slotsByName } from './columns.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { freeOn } from './filters/resources.ts'

/** The nodes of a tenant at one moment. Later changes of a scheduling view do not affect it. */
export interface NodesAtMoment {
  /** Sorted by name. */
  readonly nodes: readonly NodeFacts[]
  /** For each node its slot, the index of its other values. */
  readonly slots: Int32Array
  readonly freeCpu: Float64Array
  readonly freeMemory: Float64Array
  /** For each deployment in an affinity rule of the workload, the number of its replicas by slot, if there are any. */
  readonly replicas: ReadonlyMap<string, ReadonlyMap<number, number>>
  readonly containers: TenantFacts['containers']
  /** Whether a replica of the workload itself runs on any node. */
  readonly runs: boolean
}

/** The nodes of a scheduling view. Copying its columns is cheap. */
export function captureColumns(
  workload: Workload,
  columns: Columns,
  containers: TenantFacts['containers'],
): NodesAtMoment {
  const { running, freeCpu, freeMemory } = columns
  return {
    nodes: nodesByName(columns),
    slots: slotsByName(columns),
    freeCpu: freeCpu.slice(),
    freeMemory: freeMemory.slice(),
    replicas: new Map(namesIn(workload).map((name) => [name, new Map(running.get(name))])),
    containers: { ...containers },
    runs: running.has(workload.name),
  }
}

/** The nodes of a caller without a scheduling view. */
export function captureNodes(workload: Workload, facts: TenantFacts): NodesAtMoment {
  const nodes = sortedByName(facts.nodes)
  const countsOf = (name: string) =>
    nodes.flatMap(({ replicas }, slot): [number, number][] => {
      const count = replicas.get(name)
      return count === undefined ? [] : [[slot, count]]
    })
  return {
    nodes,
    slots: new Int32Array(nodes.length).map((_none, at) => at),
    freeCpu: Float64Array.from(nodes, (node) => freeOn(node, 'cpuMillis')),
    freeMemory: Float64Array.from(nodes, (node) => freeOn(node, 'memoryBytes')),
    replicas: new Map(namesIn(workload).map((name) => [name, new Map(countsOf(name))])),
    containers: { ...facts.containers },
    runs: facts.runs?.(workload.name) ?? nodes.some(({ replicas }) => replicas.has(workload.name)),
  }
}

const namesIn = ({ placement }: Workload): string[] => [
  ...new Set([...(placement?.affinity ?? []), ...(placement?.antiAffinity ?? [])]),
]

/** The facts of one node at the moment, as far as filters and remedies of the workload read them. */
export function factsAt(moment: NodesAtMoment, node: NodeFacts, slot: number): NodeFacts {
  const replicas = new Map<string, number>()
  for (const [name, counts] of moment.replicas) {
    const count = counts.get(slot)
    if (count !== undefined) replicas.set(name, count)
  }
  return { ...node, requested: requestedAt(moment, node, slot), replicas }
}

export const requestedAt = (
  { freeCpu, freeMemory }: NodesAtMoment,
  { capacity }: NodeFacts,
  slot: number,
): Capacity => ({
  cpuMillis: capacity.cpuMillis - (freeCpu[slot] ?? 0),
  memoryBytes: capacity.memoryBytes - (freeMemory[slot] ?? 0),
})

/**
 * Finds for each position of `now`, in ascending order, the position in `before` of the same node in the same state;
 * -1 if the node is new or has changed. Facts of a node are never changed in place, except for its replicas.
 */
export function createMatcher(before: NodesAtMoment, now: NodesAtMoment): (at: number) => number {
  const isSame = createComparison(before, now)
  let from = 0
  return (at) => {
    const node = now.nodes[at]
    if (node === undefined) return -1
    let known = before.nodes[from]
    while (known !== undefined && known !== node && compareByName(known, node) < 0) {
      from += 1
      known = before.nodes[from]
    }
    return known === node && isSame(before.slots[from] ?? 0, now.slots[at] ?? 0) ? from : -1
  }
}

/** Compares what changes without a new record of the node: its free capacity and its replicas. */
function createComparison(
  before: NodesAtMoment,
  now: NodesAtMoment,
): (from: number, slot: number) => boolean {
  const counts = [...now.replicas].map(([name, here]) => ({ here, there: before.replicas.get(name) }))
  return (from, slot) =>
    before.freeCpu[from] === now.freeCpu[slot] &&
    before.freeMemory[from] === now.freeMemory[slot] &&
    counts.every(({ here, there }) => there?.get(from) === here.get(slot))
}
