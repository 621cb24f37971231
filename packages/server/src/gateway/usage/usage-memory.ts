// The last hour of usage of the nodes whose sessions this server replica holds. It is kept in memory only, and dropped with
// the node or when another server replica holds its session. See docs/design/usage.md#memory

import {
  type AssignmentId,
  defined,
  MAX_SAMPLED_CONTAINERS,
  type NodeSample,
  type SampleRound,
  type TenantId,
  type UsageMessage,
} from '@holdfast/contract'
import { createUsageRing, type LastSlot, slotOf, type UsageRing } from '@holdfast/core/node'
import type { NodeUsage } from '../../ports/usage.ts'
import type { NodeAddress } from '../deps.ts'
import { type ContainerMemory, type NodeMemory, usageOf } from './node-usage.ts'

/** Limit of containers per tenant, about 60 MB. Containers beyond it have no samples. */
const MAX_SERIES_PER_TENANT = 10_000

type IsAssigned = (id: AssignmentId) => boolean

export interface UsageMemory {
  /** Stores a round of samples. Those of assignments that the node does not have are dropped. */
  accept(node: NodeAddress, round: SampleRound, isAssigned: IsAssigned): void
  /** Stores older samples in slots that have none. */
  refill(node: NodeAddress, message: UsageMessage, isAssigned: IsAssigned): void
  /** The age of the newest round of the node; undefined without any. */
  newestAgeMs(node: NodeAddress): number | undefined
  read(node: NodeAddress, slots: number, assignments?: ReadonlySet<AssignmentId>): NodeUsage | undefined
  has(node: NodeAddress): boolean
  drop(node: NodeAddress): void
}

interface MemoryOptions {
  readonly stepMs: number
  /** The usage of the last minute is the mean of this time. */
  readonly meanMs: number
  now(): number
  readonly maxPerTenant?: number
}

export function createUsageMemory({
  stepMs,
  meanMs,
  now,
  maxPerTenant = MAX_SERIES_PER_TENANT,
}: MemoryOptions): UsageMemory {
  const nodes = new Map<string, NodeMemory>()
  const bounded = createBoundedSeries(maxPerTenant)
  const find = ({ tenant, nodeId }: NodeAddress): NodeMemory | undefined => {
    const found = nodes.get(nodeId)
    return found?.tenant === tenant ? found : undefined
  }
  const open = (node: NodeAddress): NodeMemory => {
    const memory = find(node) ?? newNode(node)
    nodes.set(node.nodeId, memory)
    return memory
  }
  return {
    accept(node, { ageMs, node: machine, containers, unread }, isAssigned) {
      const memory = open(node)
      bounded.keep(memory, isAssigned)
      const last = slotOf(memory.last, now() - ageMs, stepMs)
      Object.assign(memory, { last, unread, diskBytes: machine.diskBytes })
      memory.machine.set(last.slot, machineValues(machine))
      for (const { id, cpuMillis, memoryBytes, rx, tx, throttledPercent, pids } of containers) {
        const found = isAssigned(id) ? bounded.open(memory, id) : undefined
        found?.ring.set(last.slot, [cpuMillis, memoryBytes, rx, tx])
        if (found !== undefined) Object.assign(found, { throttledPercent, pids })
      }
    },
    refill(node, { agesMs, node: machine = [], series }, isAssigned) {
      const memory = open(node)
      const slots = slotsOf(memory.last, agesMs, now(), stepMs)
      for (const [index, slot] of slots.entries()) {
        const sample = machine[index]
        if (sample != null) memory.machine.fill(slot, machineValues(sample))
      }
      for (const { id, cpuMillis, memoryBytes, rx, tx } of series) {
        const ring = isAssigned(id) ? bounded.open(memory, id)?.ring : undefined
        if (ring !== undefined) fillRing(ring, slots, [cpuMillis, memoryBytes, rx, tx])
      }
    },
    newestAgeMs(node) {
      const last = find(node)?.last
      return last === undefined ? undefined : Math.max(0, Math.round(now() - last.atMs))
    },
    read(node, slots, assignments) {
      const memory = find(node)
      return (
        memory &&
        usageOf(node.nodeId, memory, { slots, stepMs, meanMs, nowMs: now(), ...defined({ assignments }) })
      )
    },
    has: (node) => find(node) !== undefined,
    drop(node) {
      const memory = find(node)
      if (memory === undefined) return
      nodes.delete(node.nodeId)
      bounded.keep(memory, () => false)
    },
  }
}

/** The containers of all nodes, counted by tenant. */
function createBoundedSeries(maxPerTenant: number) {
  const counts = new Map<TenantId, number>()
  const count = (tenant: TenantId, change: number): void => {
    const next = (counts.get(tenant) ?? 0) + change
    if (next === 0) counts.delete(tenant)
    else counts.set(tenant, next)
  }
  return {
    /** The memory of a container; undefined if there is no room for it. */
    open({ tenant, series }: NodeMemory, id: AssignmentId): ContainerMemory | undefined {
      const known = series.get(id)
      if (known !== undefined) return known
      const isFull = series.size >= MAX_SAMPLED_CONTAINERS || (counts.get(tenant) ?? 0) >= maxPerTenant
      if (isFull) return undefined
      const added = { ring: createUsageRing(), throttledPercent: undefined, pids: undefined }
      series.set(id, added)
      count(tenant, 1)
      return added
    },
    /** Drops the containers of the node that are not assigned to it. */
    keep({ tenant, series }: NodeMemory, isAssigned: IsAssigned): void {
      for (const id of series.keys()) if (!isAssigned(id) && series.delete(id)) count(tenant, -1)
    },
  }
}

const newNode = ({ tenant }: NodeAddress): NodeMemory => ({
  tenant,
  machine: createUsageRing(),
  series: new Map(),
  last: undefined,
  unread: 0,
  diskBytes: undefined,
})

const machineValues = ({ cpuMillis, memoryBytes, loadMillis, diskUsedBytes }: NodeSample) => [
  cpuMillis,
  memoryBytes,
  loadMillis,
  diskUsedBytes,
]

/** The slots of older samples, by their distance to the newest one, so that they line up with it. */
function slotsOf(
  newest: LastSlot | undefined,
  agesMs: readonly number[],
  nowMs: number,
  stepMs: number,
): number[] {
  let last = newest
  return agesMs.map((ageMs) => {
    const found = slotOf(newest ?? last, nowMs - ageMs, stepMs)
    last = found
    return found.slot
  })
}

function fillRing(
  ring: UsageRing,
  slots: readonly number[],
  columns: readonly (readonly (number | null)[])[],
): void {
  for (const [index, slot] of slots.entries()) {
    const values = columns.map((column) => column[index] ?? undefined)
    if (values.some((value) => value !== undefined)) ring.fill(slot, values)
  }
}
