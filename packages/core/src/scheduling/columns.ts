// One tenant's nodes as columns, in the order of their ids: what a decision compares lies side by side, so its cost hangs
// on the tenant's own nodes and on nothing else in memory. PERFORMANCE 2.4, 3.

import { firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { freeOn } from './filters/resources.ts'
import { createFreeOrder, type FreeOrder, setShare } from './free-order.ts'
import { freeShare, type HeldNode, sameRecord } from './held-node.ts'
import { labelOf } from './labels.ts'
import { memoizeByObject } from './memoize.ts'

/** The nodes that the kept filters let through for one kind of workload. */
export interface Candidates {
  readonly slots: Int32Array
  readonly has: Uint8Array
}

/** By slot, the number of the group that the node is in; nodes without the label are one group. */
export interface Groups {
  readonly of: Int32Array
  /** By group, replicas of the deployment that is being placed; all zero between decisions. */
  readonly crowd: Int32Array
}

export interface Columns {
  readonly nodes: HeldNode[]
  readonly freeCpu: Float64Array
  readonly freeMemory: Float64Array
  readonly byShare: FreeOrder
  /** By slot, replicas of the deployment that is being placed; all zero between decisions. */
  readonly crowd: Int32Array
  /** By deployment name, the slots of the nodes that run it, and how many replicas each. */
  readonly running: Map<string, Map<number, number>>
  readonly candidates: Map<string, Candidates>
  readonly groups: Map<string, Groups>
}

/** More kinds of workload than a tenant has at once; past it, all are forgotten. */
const MAX_KEPT = 128

const CACHED_FILTERS = PLACEMENT_FILTERS.filter(({ cacheKey }) => cacheKey !== undefined)

export function createColumns(held: Iterable<HeldNode>): Columns {
  const nodes = [...held].sort((left, right) => (left.id < right.id ? -1 : 1))
  const columns: Columns = {
    nodes,
    freeCpu: new Float64Array(nodes.length),
    freeMemory: new Float64Array(nodes.length),
    byShare: createFreeOrder(Float64Array.from(nodes, freeShare)),
    crowd: new Int32Array(nodes.length),
    running: new Map(),
    candidates: new Map(),
    groups: new Map(),
  }
  nodes.forEach((node, slot) => {
    node.slot = slot
    refreshSlot(columns, node)
    for (const [name, count] of node.replicas) setRunning(columns, name, slot, count)
  })
  return columns
}

/** After each change of the node's capacity or of what runs on it. */
export function refreshSlot(columns: Columns, node: HeldNode): void {
  columns.nodes[node.slot] = node
  columns.freeCpu[node.slot] = freeOn(node, 'cpuMillis')
  columns.freeMemory[node.slot] = freeOn(node, 'memoryBytes')
  setShare(columns.byShare, node.slot, freeShare(node))
}

export function setRunning({ running }: Columns, name: string, slot: number, count: number): void {
  const counts = running.get(name) ?? new Map<number, number>()
  if (count > 0) counts.set(slot, count)
  else counts.delete(slot)
  if (counts.size > 0) running.set(name, counts)
  else running.delete(name)
}

/** A change of a node's record is rare beside decisions, so everything kept for records is then worked out anew. */
export function replaceNode(columns: Columns, before: HeldNode, node: HeldNode): void {
  for (const name of before.replicas.keys()) setRunning(columns, name, before.slot, 0)
  for (const [name, count] of node.replicas) setRunning(columns, name, node.slot, count)
  refreshSlot(columns, node)
  if (sameRecord(before, node)) return
  columns.candidates.clear()
  columns.groups.clear()
}

export function candidatesFor(columns: Columns, workload: Workload, facts: TenantFacts): Candidates {
  return kept(columns.candidates, kindOf(workload), () => {
    const accepts = (node: NodeFacts) => firstRefusal(CACHED_FILTERS, workload, node, facts) === undefined
    const has = Uint8Array.from(columns.nodes, (node) => (accepts(node) ? 1 : 0))
    const slots = Int32Array.from(columns.nodes.filter(({ slot }) => has[slot] === 1).map(({ slot }) => slot))
    return { slots, has }
  })
}

/** Each text with its length before it, so that no two kinds of workload share a key. */
function kindOf(workload: Workload): string {
  let kind = ''
  for (const { cacheKey } of CACHED_FILTERS)
    for (const part of cacheKey?.(workload) ?? []) {
      const text = typeof part === 'object' ? textOfList(part) : String(part)
      kind += `${typeof part} ${text.length}:${text}`
    }
  return kind
}

const textOfList = memoizeByObject((list: readonly unknown[]) => JSON.stringify(list))

/** Without a label each node is a group of its own: spread over nodes. DECISIONS 4. */
export function groupsBy(columns: Columns, label: string | undefined): Groups {
  return kept(columns.groups, label === undefined ? '' : `=${label}`, () => {
    const each = columns.nodes.length
    if (label === undefined) return { of: Int32Array.from(columns.nodes.keys()), crowd: new Int32Array(each) }
    const numbers = new Map<string | undefined, number>()
    const of = Int32Array.from(columns.nodes, ({ labels }) => {
      const value = labelOf(label, labels)
      const number = numbers.get(value) ?? numbers.size
      numbers.set(value, number)
      return number
    })
    return { of, crowd: new Int32Array(numbers.size) }
  })
}

function kept<T>(known: Map<string, T>, key: string, compute: () => T): T {
  const before = known.get(key)
  if (before !== undefined) return before
  if (known.size >= MAX_KEPT) known.clear()
  const value = compute()
  known.set(key, value)
  return value
}
