// Takes a round of samples of the node: one of the machine and one of each running container.

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type AssignmentId,
  type ContainerSample,
  defined,
  MAX_SAMPLED_CONTAINERS,
  type NodeSample,
} from '@holdfast/contract'
import { type ContainerReading, sampleBetween, USAGE_STEP_MS } from '@holdfast/core/node'
import type { MachineReading, UsageReader } from '../ports/usage.ts'
import { createUsageHistory, type UsageHistory } from './usage-history.ts'

/** A running container. The id of its first process is unknown until the engine has been asked. */
export interface RunningContainer {
  readonly id: AssignmentId
  readonly containerId: string
  readonly pid: number | undefined
}

export interface NodeSampler {
  readonly history: UsageHistory
  /** Takes a round if the last one is old enough. Resolves when the newest round is in the history. */
  sample(): Promise<void>
  /** The monotonic time of the samples, in milliseconds. */
  now(): number
  close(): void
}

interface SamplerDeps {
  readonly reader: UsageReader
  running(): readonly RunningContainer[]
  monotonicMs(): number
  readonly stepMs?: number
}

/** Parts of a step: after the first, a heartbeat takes the next round; after the second, the agent does so without one. */
const DUE = 0.75
const OVERDUE = 1.01
/** Number of containers that are read without a pause, so that a round does not block the agent. */
const AT_ONCE = 20

export function startSampler(deps: SamplerDeps): NodeSampler {
  const { stepMs = USAGE_STEP_MS, monotonicMs } = deps
  const history = createUsageHistory()
  const take = createRounds(deps, history)
  let lastMs = Number.NEGATIVE_INFINITY
  let current: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const start = async (): Promise<void> => {
    clearTimeout(timer)
    lastMs = monotonicMs()
    timer = setTimeout(() => void sample(), OVERDUE * stepMs).unref()
    await take()
  }
  const sample = async (): Promise<void> => {
    if (current === undefined && monotonicMs() - lastMs < DUE * stepMs) return
    current ??= start().finally(() => {
      current = undefined
    })
    await current
  }
  timer = setTimeout(() => void sample(), 0).unref()
  return { history, sample, now: monotonicMs, close: () => clearTimeout(timer) }
}

interface Earlier<T> {
  readonly atMs: number
  readonly reading: T
}

function createRounds({ reader, running, monotonicMs }: SamplerDeps, history: UsageHistory) {
  let earlier = new Map<string, Earlier<ContainerReading>>()
  let machine: Earlier<MachineReading> | undefined
  return async (): Promise<void> => {
    const listed = running()
    const next = new Map<string, Earlier<ContainerReading>>()
    const containers: ContainerSample[] = []
    for (const [index, { id, containerId, pid }] of listed.slice(0, MAX_SAMPLED_CONTAINERS).entries()) {
      if (index > 0 && index % AT_ONCE === 0) await nextTurn()
      const reading = pid === undefined ? undefined : reader.container(containerId, pid)
      if (reading === undefined) continue
      const [atMs, before] = [monotonicMs(), earlier.get(containerId)]
      next.set(containerId, { atMs, reading })
      containers.push({ id, ...sampleBetween(before?.reading, reading, atMs - (before?.atMs ?? atMs)) })
    }
    const reading = await reader.machine()
    const atMs = monotonicMs()
    const node = machineSample(machine, { atMs, reading })
    machine = { atMs, reading }
    earlier = next
    history.add({ node, containers, unread: listed.length - containers.length }, atMs)
  }
}

function machineSample(
  before: Earlier<MachineReading> | undefined,
  { atMs, reading }: Earlier<MachineReading>,
): NodeSample {
  const { busyMs, ...levels } = reading
  const workedMs = busyMs === undefined ? undefined : busyMs - (before?.reading.busyMs ?? Number.NaN)
  const elapsedMs = atMs - (before?.atMs ?? atMs)
  const isKnown = workedMs !== undefined && workedMs >= 0 && elapsedMs > 0
  const cpuMillis = isKnown ? Math.round((workedMs * 1000) / elapsedMs) : undefined
  return defined({ ...levels, cpuMillis })
}
