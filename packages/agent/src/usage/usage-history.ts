// The samples of the last hour on this node. A server that lacks them, such as one that was restarted, gets them from here.

import {
  type AssignmentId,
  type ContainerSample,
  MAX_SAMPLED_CONTAINERS,
  MAX_SENT_SERIES,
  type NodeSample,
  type SampleRound,
  type UsageMessage,
  type UsageSeries,
} from '@holdfast/contract'
import { createUsageRing, USAGE_SLOTS, type UsageRing } from '@holdfast/core/node'

export type Round = Omit<SampleRound, 'ageMs'>
export type UsagePart = Omit<UsageMessage, 'type' | 'session'>

export interface UsageHistory {
  add(round: Round, atMs: number): void
  /** The number of the newest round; undefined before the first. Rounds are numbered in the order in which they were added. */
  newest(): number | undefined
  /** The newest round as a heartbeat carries it. */
  latest(nowMs: number): SampleRound | undefined
  /** The first kept round that was added after this time. */
  firstAfter(atMs: number): number
  /** The rounds from the first to the last in messages of bounded size, built when they are sent. */
  parts(first: number, last: number): ((nowMs: number) => UsagePart)[]
}

export function createUsageHistory(): UsageHistory {
  const times = new Map<number, number>()
  const machine = createUsageRing()
  const rings = new Map<AssignmentId, UsageRing>()
  let newest: { readonly number: number; readonly round: Round; readonly atMs: number } | undefined
  return {
    add(round, atMs) {
      const number = (newest?.number ?? -1) + 1
      newest = { number, round, atMs }
      times.set(number, atMs)
      times.delete(number - USAGE_SLOTS)
      machine.set(number, nodeValues(round.node))
      for (const sample of round.containers) ringOf(rings, sample.id).set(number, containerValues(sample))
      for (const [id, ring] of rings) if ((ring.newest ?? 0) <= number - USAGE_SLOTS) rings.delete(id)
    },
    newest: () => newest?.number,
    latest: (nowMs) => newest && { ageMs: Math.max(0, Math.round(nowMs - newest.atMs)), ...newest.round },
    firstAfter: (afterMs) => {
      for (const [number, atMs] of times) if (atMs > afterMs) return number
      return (newest?.number ?? -1) + 1
    },
    parts(first, last) {
      const numbers = [...times.keys()].filter((number) => number >= first && number <= last)
      const [from = 0, to = -1] = [numbers[0], numbers.at(-1)]
      const agesAt = (nowMs: number): number[] =>
        numbers.map((number) => Math.max(0, Math.round(nowMs - (times.get(number) ?? nowMs))))
      const ids = [...rings.keys()]
      const count = numbers.length === 0 ? 0 : Math.max(1, Math.ceil(ids.length / MAX_SENT_SERIES))
      return Array.from({ length: count }, (_, index) => (nowMs: number) => {
        const some = ids.slice(index * MAX_SENT_SERIES, (index + 1) * MAX_SENT_SERIES)
        const series = some.flatMap((id) => seriesOf(id, rings.get(id), from, to))
        const node = index === 0 ? { node: nodeSamples(machine, from, to) } : {}
        return { agesMs: agesAt(nowMs), ...node, series }
      })
    },
  }
}

/** Makes room for a new container by dropping the one that was sampled longest ago. */
function ringOf(rings: Map<AssignmentId, UsageRing>, id: AssignmentId): UsageRing {
  const known = rings.get(id)
  if (known !== undefined) return known
  if (rings.size >= MAX_SAMPLED_CONTAINERS) {
    const [oldest] = [...rings].toSorted(([, a], [, b]) => (a.newest ?? 0) - (b.newest ?? 0))
    if (oldest !== undefined) rings.delete(oldest[0])
  }
  const ring = createUsageRing()
  rings.set(id, ring)
  return ring
}

const containerValues = ({ cpuMillis, memoryBytes, rx, tx }: ContainerSample) => [
  cpuMillis,
  memoryBytes,
  rx,
  tx,
]

const nodeValues = ({ cpuMillis, memoryBytes, loadMillis, diskUsedBytes }: NodeSample) => [
  cpuMillis,
  memoryBytes,
  loadMillis,
  diskUsedBytes,
]

/** Nothing for a container without a sample in these rounds. */
function seriesOf(id: AssignmentId, ring: UsageRing | undefined, first: number, last: number): UsageSeries[] {
  if (ring === undefined || (ring.newest ?? -1) < first) return []
  const column = (index: number): (number | null)[] => ring.column(index, first, last)
  return [{ id, cpuMillis: column(0), memoryBytes: column(1), rx: column(2), tx: column(3) }]
}

function nodeSamples(ring: UsageRing, first: number, last: number): NodeSample[] {
  const columns = [0, 1, 2, 3].map((index) => ring.column(index, first, last))
  const [cpu = [], memory = [], load = [], disk = []] = columns
  return cpu.map((_, index) => ({
    ...present('cpuMillis', cpu[index]),
    ...present('memoryBytes', memory[index]),
    ...present('loadMillis', load[index]),
    ...present('diskUsedBytes', disk[index]),
  }))
}

const present = (name: keyof NodeSample, value: number | null | undefined): NodeSample =>
  value === null || value === undefined ? {} : { [name]: value }
