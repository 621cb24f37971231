// Picks the best node for one replica. Rank: first the spread group with the fewest replicas of the deployment, then the
// node with the fewest replicas of the deployment, then the largest free share, then the lowest id. Checking a few nodes
// from the freest on finds the best node in most cases; otherwise all nodes are compared. The checks on columns only
// exclude nodes that a filter would refuse, and every filter has accepted the chosen node. See
// docs/design/placement.md#ranking

import type { NodeId } from '@holdfast/contract'
import { firstRefusal } from './check-candidates.ts'
import { type Candidates, type Columns, candidatesFor, type Groups, groupsBy } from './columns.ts'
import type { TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { leastFree } from './filters/resources.ts'
import type { HeldNode } from './held-node.ts'
import { columnsOf, type TenantState } from './tenant-state.ts'

const UNCACHED_FILTERS = PLACEMENT_FILTERS.filter(({ cacheKey }) => cacheKey === undefined)

export function pickNode(state: TenantState, workload: Workload, facts: TenantFacts): NodeId | undefined {
  const columns = columnsOf(state)
  const search: Search = {
    columns,
    groups: groupsBy(columns, workload.placement?.spread),
    candidates: candidatesFor(columns, workload, facts),
    leastCpu: leastFree(workload.resources.cpuMillis),
    leastMemory: leastFree(workload.resources.memoryBytes),
    accepts: acceptance(columns, workload, facts),
  }
  const { name } = workload
  tally(search, name, 1)
  try {
    return columns.nodes[bestSlot(search, workload)]?.id
  } finally {
    tally(search, name, -1)
  }
}

function bestSlot(search: Search, workload: Workload): number {
  const walked = walk(search)
  return walked === NO_SLOT ? scan(search, slotsToScan(search, workload)) : walked
}

interface Search {
  readonly columns: Columns
  readonly groups: Groups
  readonly candidates: Candidates
  readonly leastCpu: number
  readonly leastMemory: number
  readonly accepts: (node: HeldNode | undefined) => boolean
}

/** Runs the filters whose answers are not cached, after cheap checks that exclude most refused nodes. */
function acceptance({ running }: Columns, workload: Workload, facts: TenantFacts): Search['accepts'] {
  const { antiAffinity = [], affinity = [] } = workload.placement ?? {}
  const excluded = antiAffinity.flatMap((name) => running.get(name) ?? [])
  const required = affinity
    .filter((name) => name !== workload.name)
    .map((name) => running.get(name) ?? NOWHERE)
  return (node) =>
    node !== undefined &&
    !excluded.some((counts) => counts.has(node.slot)) &&
    required.every((counts) => counts.has(node.slot)) &&
    firstRefusal(UNCACHED_FILTERS, workload, node, facts) === undefined
}

/** The slots to compare. With affinity, only nodes that run the first other deployment in placement.affinity. */
function slotsToScan({ columns, candidates }: Search, workload: Workload): Int32Array {
  const other = workload.placement?.affinity?.find((name) => name !== workload.name)
  if (other === undefined) return candidates.slots
  const near = columns.running.get(other) ?? NOWHERE
  const slots = new Int32Array(near.size)
  let count = 0
  for (const slot of near.keys()) if (candidates.has[slot] === 1) slots[count++] = slot
  return slots.subarray(0, count)
}

const NOWHERE: ReadonlyMap<number, number> = new Map()

/**
 * Adds the deployment's own replicas to the replica counts of nodes and spread groups, or subtracts them. All counts must
 * be zero again after each decision.
 */
function tally({ columns: { running, crowd }, groups }: Search, name: string, times: 1 | -1): void {
  for (const [slot, count] of running.get(name) ?? NOWHERE) {
    const group = groups.of[slot] ?? 0
    crowd[slot] = (crowd[slot] ?? 0) + times * count
    groups.crowd[group] = (groups.crowd[group] ?? 0) + times * count
  }
}

const NO_SLOT = -1
/** The most nodes checked one by one from the freest on; beyond this number, comparing all nodes is faster. */
const MAX_WALKED = 64

/**
 * Checks nodes from the freest on. The first accepted node that has no replica of the deployment, and is in a spread
 * group with the fewest replicas, is the best node.
 */
function walk({ columns, groups, candidates, leastCpu, leastMemory, accepts }: Search): number {
  const { nodes, byShare, freeCpu, freeMemory, crowd } = columns
  const fewest = fewestIn(groups.crowd)
  const walked = Math.min(MAX_WALKED, nodes.length)
  for (let at = 0; at < walked; at += 1) {
    const slot = byShare.slots[at] ?? 0
    if (candidates.has[slot] !== 1 || crowd[slot] !== 0) continue
    if (groups.crowd[groups.of[slot] ?? 0] !== fewest) continue
    if ((freeCpu[slot] ?? 0) < leastCpu || (freeMemory[slot] ?? 0) < leastMemory) continue
    if (accepts(nodes[slot])) return slot
  }
  return NO_SLOT
}

function fewestIn(crowd: Int32Array): number {
  let fewest = crowd[0] ?? 0
  for (let group = 1; group < crowd.length && fewest > 0; group += 1)
    fewest = Math.min(fewest, crowd[group] ?? 0)
  return fewest
}

/** Compares the nodes in all given slots. The filters run only for a node that would be the best so far. */
function scan(search: Search, slots: Int32Array): number {
  const { columns, groups, leastCpu, leastMemory, accepts } = search
  const { nodes, byShare, freeCpu, freeMemory, crowd } = columns
  let best = NO_SLOT
  let bestInGroup = 0
  let bestOnNode = 0
  let bestShare = 0
  for (const slot of slots) {
    if ((freeCpu[slot] ?? 0) < leastCpu || (freeMemory[slot] ?? 0) < leastMemory) continue
    const inGroup = groups.crowd[groups.of[slot] ?? 0] ?? 0
    const onNode = crowd[slot] ?? 0
    const share = byShare.share[slot] ?? 0
    if (best !== NO_SLOT) {
      if (inGroup > bestInGroup) continue
      if (inGroup === bestInGroup) {
        if (onNode > bestOnNode) continue
        if (onNode === bestOnNode && (share < bestShare || (share === bestShare && slot > best))) continue
      }
    }
    if (!accepts(nodes[slot])) continue
    best = slot
    bestInGroup = inGroup
    bestOnNode = onNode
    bestShare = share
  }
  return best
}
