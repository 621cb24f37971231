// Reads the kept usage of one node: the newest slots and the means of the last minute.

import { type AssignmentId, defined, type NodeId, type TenantId } from '@holdfast/contract'
import type { LastSlot, UsageRing } from '@holdfast/core/node'
import type { AssignmentUsage, LastMinute, NodeUsage } from '../../ports/usage.ts'

export interface ContainerMemory {
  readonly ring: UsageRing
  throttledPercent: number | undefined
  pids: number | undefined
}

export interface NodeMemory {
  readonly tenant: TenantId
  readonly machine: UsageRing
  readonly series: Map<AssignmentId, ContainerMemory>
  /** The newest round. */
  last: LastSlot | undefined
  unread: number
  diskBytes: number | undefined
}

export interface UsageWindow {
  readonly slots: number
  readonly stepMs: number
  readonly meanMs: number
  readonly nowMs: number
  readonly assignments?: ReadonlySet<AssignmentId>
}

/** The most series of one answer between server replicas: an hour of each is about 12 kB as text. */
export const MAX_ANSWERED_SERIES = 200

export function usageOf(nodeId: NodeId, memory: NodeMemory, window: UsageWindow): NodeUsage {
  const { assignments, slots } = window
  const wanted = [...memory.series].filter(([id]) => assignments === undefined || assignments.has(id))
  const isBounded = slots === 0 || assignments !== undefined
  const answered = isBounded ? wanted : wanted.slice(0, MAX_ANSWERED_SERIES)
  const [cpuMillis = [], memoryBytes = [], loadMillis = [], diskUsedBytes = []] = columnsOf(
    memory.machine,
    window,
  )
  const { unread, diskBytes } = memory
  return {
    nodeId,
    ...{ cpuMillis, memoryBytes, loadMillis, diskUsedBytes },
    ...defined({ diskBytes }),
    lastMinute: lastMinuteOf(memory.machine, window),
    unread,
    omitted: wanted.length - answered.length,
    series: answered.map(([id, series]) => containerUsage(id, series, window)),
  }
}

function containerUsage(
  id: AssignmentId,
  { ring, throttledPercent, pids }: ContainerMemory,
  window: UsageWindow,
): AssignmentUsage {
  const [cpuMillis = [], memoryBytes = [], rx = [], tx = []] = columnsOf(ring, window)
  const lastMinute = lastMinuteOf(ring, window)
  // Without a sample in the last minute, the newest values are those of an earlier time.
  const newest = lastMinute.memoryBytes === undefined ? {} : defined({ throttledPercent, pids })
  return { id, cpuMillis, memoryBytes, rx, tx, lastMinute, ...newest }
}

const lastSlotOf = ({ nowMs, stepMs }: UsageWindow): number => Math.floor(nowMs / stepMs)

function columnsOf(ring: UsageRing, window: UsageWindow): (number | null)[][] {
  const last = lastSlotOf(window)
  return [0, 1, 2, 3].map((column) => ring.column(column, last - window.slots + 1, last))
}

/** The slot after the current one is part of it, because a sample may lie there. */
function lastMinuteOf(ring: UsageRing, window: UsageWindow): LastMinute {
  const last = lastSlotOf(window)
  const first = last - Math.round(window.meanMs / window.stepMs) + 1
  const mean = (column: number): number | undefined => {
    const found = ring.mean(column, first, last + 1)
    return found === undefined ? undefined : Math.round(found)
  }
  return defined({ cpuMillis: mean(0), memoryBytes: mean(1) })
}
