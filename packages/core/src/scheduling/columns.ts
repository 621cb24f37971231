// One tenant's nodes as arrays, one array for each value that a decision compares. Arrays are indexed by slot, and slots
// are in the order of the node ids. With this layout a decision reads little memory, and its cost does not depend on the
// nodes of other tenants.

import { compareByName, firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { freeOn } from './filters/resources.ts'
import { freeShare, type HeldNode, sameRecord } from './held-node.ts'
import { labelOf } from './labels.ts'
import { memoizeByObject } from './memoize.ts'
import type { KeyPart } from './refusal.ts'
import { sameStand } from './residency.ts'

/** The nodes that the filters with cached answers accept for one kind of workload. */
export interface Candidates {
  readonly slots: Int32Array
  readonly has: Uint8Array
}

/** Candidates that are kept up to date while records of nodes change. */
interface CachedCandidates {
  readonly has: Uint8Array
  /** The slots in `has`; undefined after a change, until they are needed again. */
  slots: Int32Array | undefined
  accepts(node: NodeFacts): boolean
}

/** The groups of nodes that replicas are spread over. Nodes without the spread label form one group. */
export interface Groups {
  /** For each slot (array index of a node), the number of the node's group. */
  readonly of: Int32Array
  /** For each group, the number of replicas of the deployment that is being placed. All zero between decisions. */
  readonly crowd: Int32Array
}

export interface Columns {
  readonly nodes: HeldNode[]
  readonly freeCpu: Float64Array
  readonly freeMemory: Float64Array
  readonly byShare: FreeOrder
  /** For each slot (array index of a node), replicas of the deployment being placed. All zero between decisions. */
  readonly crowd: Int32Array
  /** Maps a deployment name to the slots (array indexes) of the nodes that run it, and to its number of replicas. */
  readonly running: Map<string, Map<number, number>>
  readonly candidates: Map<string, CachedCandidates>
  readonly groups: Map<string, Groups>
  /** The slots in the order of the node names; undefined until an explanation needs them. */
  slotsByName: Int32Array | undefined
  /** The nodes in the order of their names; undefined after a node was replaced. The list itself is never changed. */
  byName: readonly HeldNode[] | undefined
}

/**
 * The most kinds of workload in the cache, more than a tenant usually has at once. The cache is cleared when it is full.
 */
const MAX_CACHED = 128

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
    slotsByName: undefined,
    byName: undefined,
  }
  nodes.forEach((node, slot) => {
    node.slot = slot
    refreshSlot(columns, node)
    for (const [name, count] of node.replicas) setRunning(columns, name, slot, count)
  })
  return columns
}

/** Updates the arrays for one node. Must be called after each change of the node's capacity or replicas. */
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

/** Replaces the facts of a node. If its record changed, the filters with cached answers run again for this node alone. */
export function replaceNode(columns: Columns, before: HeldNode, node: HeldNode): void {
  for (const name of before.replicas.keys()) setRunning(columns, name, before.slot, 0)
  for (const [name, count] of node.replicas) setRunning(columns, name, node.slot, count)
  refreshSlot(columns, node)
  columns.byName = undefined
  if (before.name !== node.name) columns.slotsByName = undefined
  if (sameRecord(before, node)) return
  for (const kind of columns.candidates.values()) {
    kind.has[node.slot] = kind.accepts(node) ? 1 : 0
    kind.slots = undefined
  }
  if (sameStand(before, node)) return
  for (const key of columns.groups.keys()) if (key !== EACH_NODE) columns.groups.delete(key)
}

/** The nodes sorted by name, as a list that later changes of the columns do not affect. */
export function nodesByName(columns: Columns): readonly HeldNode[] {
  columns.byName ??= sortByName(columns)
  return columns.byName
}

function sortByName(columns: Columns): HeldNode[] {
  const sorted: HeldNode[] = []
  for (const slot of slotsByName(columns)) {
    const node = columns.nodes[slot]
    if (node !== undefined) sorted.push(node)
  }
  return sorted
}

/** The slots in the order of the node names. The array is never changed. */
export function slotsByName(columns: Columns): Int32Array {
  const { nodes } = columns
  columns.slotsByName ??= new Int32Array(nodes.length)
    .map((_none, slot) => slot)
    .sort((left, right) => {
      const [one, other] = [nodes[left], nodes[right]]
      return one === undefined || other === undefined ? 0 : compareByName(one, other)
    })
  return columns.slotsByName
}

export function candidatesFor(columns: Columns, workload: Workload, facts: TenantFacts): Candidates {
  const kind = cached(columns.candidates, kindOf(workload), (): CachedCandidates => {
    const accepts = (node: NodeFacts) => firstRefusal(CACHED_FILTERS, workload, node, facts) === undefined
    return {
      has: Uint8Array.from(columns.nodes, (node) => (accepts(node) ? 1 : 0)),
      slots: undefined,
      accepts,
    }
  })
  kind.slots ??= slotsIn(kind.has)
  return { has: kind.has, slots: kind.slots }
}

function slotsIn(has: Uint8Array): Int32Array {
  const slots = new Int32Array(has.length)
  let count = 0
  for (let slot = 0; slot < has.length; slot += 1) if (has[slot] === 1) slots[count++] = slot
  return slots.subarray(0, count)
}

/** The cache key of a workload. Each text is preceded by its length, so that no two kinds of workload share a key. */
function kindOf(workload: Workload): string {
  let kind = ''
  for (const keyOf of CACHE_KEYS) {
    const parts = keyOf(workload)
    for (let at = 0; at < parts.length; at += 1) kind += keyOfPart(parts[at])
  }
  return kind
}

const CACHE_KEYS = CACHED_FILTERS.flatMap(({ cacheKey }) => cacheKey ?? [])

function keyOfPart(part: KeyPart): string {
  if (part === undefined) return '-'
  if (typeof part === 'boolean') return part ? '+' : '!'
  const text = typeof part === 'string' ? part : textOfList(part)
  return `${text.length}:${text}`
}

const textOfList = memoizeByObject((list: readonly unknown[]) => JSON.stringify(list))

/** Groups the nodes by a label. Without a label each node is its own group, and replicas are spread over nodes. */
export function groupsBy(columns: Columns, label: string | undefined): Groups {
  return cached(columns.groups, label === undefined ? EACH_NODE : `=${label}`, () => {
    if (label === undefined) return eachNode(columns.nodes.length)
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

/** The key of the groups of one node each, which do not depend on labels. */
const EACH_NODE = ''

const eachNode = (count: number): Groups => ({
  of: new Int32Array(count).map((_none, slot) => slot),
  crowd: new Int32Array(count),
})

function cached<T>(known: Map<string, T>, key: string, compute: () => T): T {
  const before = known.get(key)
  if (before !== undefined) return before
  if (known.size >= MAX_CACHED) known.clear()
  const value = compute()
  known.set(key, value)
  return value
}

/**
 * Slots sorted by free share, the largest share first and the lower slot first among equals. A change moves one slot, so
 * decisions find the freest nodes without sorting.
 */
interface FreeOrder {
  readonly slots: Int32Array
  /** For each slot (array index of a node), the free share of the node. */
  readonly share: Float64Array
}

function createFreeOrder(share: Float64Array): FreeOrder {
  const slots = Int32Array.from(share.keys())
  slots.sort((left, right) => (comesBefore(share, left, share[right] ?? 0, right) ? -1 : 1))
  return { slots, share }
}

function setShare({ slots, share }: FreeOrder, slot: number, now: number): void {
  const before = share[slot] ?? 0
  if (now === before) return
  const from = positionOf({ slots, share }, before, slot, 0, slots.length)
  if (now < before) {
    const after = positionOf({ slots, share }, now, slot, from + 1, slots.length)
    slots.copyWithin(from, from + 1, after)
    slots[after - 1] = slot
  } else {
    const to = positionOf({ slots, share }, now, slot, 0, from)
    slots.copyWithin(to + 1, to, from)
    slots[to] = slot
  }
  share[slot] = now
}

/** The position between `low` and `high` at which a slot with the given free share must be inserted. */
function positionOf(
  { slots, share }: FreeOrder,
  ofShare: number,
  ofSlot: number,
  low: number,
  high: number,
): number {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >>> 1
    if (comesBefore(share, slots[middle] ?? 0, ofShare, ofSlot)) from = middle + 1
    else to = middle
  }
  return from
}

function comesBefore(share: Float64Array, slot: number, otherShare: number, other: number): boolean {
  const own = share[slot] ?? 0
  return own > otherShare || (own === otherShare && slot < other)
}
