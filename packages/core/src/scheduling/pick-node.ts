// The best node for one replica, exactly. Rank: the group of the spread with the fewest replicas of the deployment, then
// the node with the fewest, then the largest free share, then the lowest id. First a short walk from the freest node on,
// which most often ends at the best one; otherwise all are compared. The columns only leave nodes out that a filter would
// refuse; whoever is chosen was let through by every filter. PERFORMANCE 2.4.

import type { NodeId } from '@holdfast/contract'
import { firstRefusal } from './check-candidates.ts'
import { type Candidates, type Columns, candidatesFor, type Groups, groupsBy } from './columns.ts'
import type { TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { leastFree } from './filters/resources.ts'
import type { HeldNode } from './held-node.ts'
import { columnsOf, type TenantState } from './tenant-state.ts'

const ASKED_FILTERS = PLACEMENT_FILTERS.filter(({ cacheKey }) => cacheKey === undefined)

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
  return columns.nodes[withTally(search, workload.name, () => bestSlot(search, workload))]?.id
}

function bestSlot(search: Search, workload: Workload): number {
  const walked = walk(search)
  return walked === NOBODY ? scan(search, slotsToScan(search, workload)) : walked
}

interface Search {
  readonly columns: Columns
  readonly groups: Groups
  readonly candidates: Candidates
  readonly leastCpu: number
  readonly leastMemory: number
  readonly accepts: (node: HeldNode | undefined) => boolean
}

/** The filters that are asked anew; before them, cheap looks at what most often refuses many nodes. */
function acceptance({ running }: Columns, workload: Workload, facts: TenantFacts): Search['accepts'] {
  const { antiAffinity = [], affinity = [] } = workload.placement ?? {}
  const shunned = antiAffinity.flatMap((name) => running.get(name) ?? [])
  const wanted = affinity.filter((name) => name !== workload.name).map((name) => running.get(name) ?? NOWHERE)
  return (node) =>
    node !== undefined &&
    !shunned.some((counts) => counts.has(node.slot)) &&
    wanted.every((counts) => counts.has(node.slot)) &&
    firstRefusal(ASKED_FILTERS, workload, node, facts) === undefined
}

/** Affinity leaves the nodes that run the first deployment it names. */
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

/** Counts the deployment's own replicas in the crowds while `find` runs; afterwards they are zero again, whatever it throws. */
function withTally(search: Search, name: string, find: () => number): number {
  tally(search, name, 1)
  try {
    return find()
  } finally {
    tally(search, name, -1)
  }
}

function tally({ columns: { running, crowd }, groups }: Search, name: string, times: 1 | -1): void {
  for (const [slot, count] of running.get(name) ?? NOWHERE) {
    const group = groups.of[slot] ?? 0
    crowd[slot] = (crowd[slot] ?? 0) + times * count
    groups.crowd[group] = (groups.crowd[group] ?? 0) + times * count
  }
}

const NOBODY = -1
/** Past it, comparing all is the better way. */
const MAX_LOOKS = 64

/** From the freest on: the first that has no replica and is in a group with the fewest is the best of all. */
function walk({ columns, groups, candidates, leastCpu, leastMemory, accepts }: Search): number {
  const { nodes, byShare, freeCpu, freeMemory, crowd } = columns
  const fewest = fewestIn(groups.crowd)
  const looks = Math.min(MAX_LOOKS, nodes.length)
  for (let look = 0; look < looks; look += 1) {
    const slot = byShare.slots[look] ?? 0
    if (candidates.has[slot] !== 1 || crowd[slot] !== 0) continue
    if (groups.crowd[groups.of[slot] ?? 0] !== fewest) continue
    if ((freeCpu[slot] ?? 0) < leastCpu || (freeMemory[slot] ?? 0) < leastMemory) continue
    if (accepts(nodes[slot])) return slot
  }
  return NOBODY
}

function fewestIn(crowd: Int32Array): number {
  let fewest = crowd[0] ?? 0
  for (let group = 1; group < crowd.length && fewest > 0; group += 1)
    fewest = Math.min(fewest, crowd[group] ?? 0)
  return fewest
}

/** Every slot by its rank. A node is asked the filters only when it would be the best so far. */
function scan(search: Search, slots: Int32Array): number {
  const { columns, groups, leastCpu, leastMemory, accepts } = search
  const { nodes, byShare, freeCpu, freeMemory, crowd } = columns
  let best = NOBODY
  let bestInGroup = 0
  let bestOnNode = 0
  let bestShare = 0
  for (const slot of slots) {
    if ((freeCpu[slot] ?? 0) < leastCpu || (freeMemory[slot] ?? 0) < leastMemory) continue
    const inGroup = groups.crowd[groups.of[slot] ?? 0] ?? 0
    const onNode = crowd[slot] ?? 0
    const share = byShare.share[slot] ?? 0
    if (best !== NOBODY) {
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
