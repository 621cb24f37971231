// Reads the usage of the last minute and formats it. An unknown value is printed as nothing, never as 0.

import type { Client, Result } from '@holdfast/client'
import type { DeploymentMetrics, Node, NodeMetrics } from '@holdfast/contract'
import { memory } from '../../print/amounts.ts'

export interface NodeRow {
  readonly name: string
  readonly id: string
  readonly cpuMillis: number | null
  readonly cpuCapacityMillis: number
  readonly memoryBytes: number | null
  readonly memoryCapacityBytes: number
  readonly loadMillis: number | null
  readonly diskUsedBytes: number | null
  readonly diskBytes: number | null
  readonly unread: number | null
}

export interface DeploymentRow {
  readonly name: string
  readonly ready: number
  readonly measured: number
  /** Sums over all replicas with samples; null without any. */
  readonly cpuMillis: number | null
  readonly memoryBytes: number | null
  /** Means per ready replica. */
  readonly cpuMillisPerReplica: number | null
  readonly memoryBytesPerReplica: number | null
}

export type ReplicaRow = Omit<
  DeploymentMetrics['series'][number],
  'cpuMillis' | 'memoryBytes' | 'rx' | 'tx' | 'lastMinute'
> & {
  readonly cpuMillis: number | null
  readonly memoryBytes: number | null
  readonly rx: number | null
  readonly tx: number | null
}

/** The part of the hour that is requested: the last minute. */
export const SINCE = { since: '1m' } as const
/** Number of requests at the same time. */
const AT_ONCE = 8

export function nodeRow({ name, id, capacity }: Node, { node, unread }: NodeMetrics): NodeRow {
  const { cpuMillis, memoryBytes } = node.lastMinute
  return {
    name,
    id,
    cpuMillis,
    cpuCapacityMillis: capacity.cpuMillis,
    memoryBytes,
    memoryCapacityBytes: capacity.memoryBytes,
    loadMillis: newest(node.loadMillis),
    diskUsedBytes: newest(node.diskUsedBytes),
    diskBytes: node.diskBytes,
    unread,
  }
}

export function deploymentRow(name: string, { lastMinute, series }: DeploymentMetrics): DeploymentRow {
  const { ready, measured, cpuMillis, memoryBytes } = lastMinute
  return {
    name,
    ready,
    measured,
    cpuMillis: sum(series.map((replica) => replica.lastMinute.cpuMillis)),
    memoryBytes: sum(series.map((replica) => replica.lastMinute.memoryBytes)),
    cpuMillisPerReplica: cpuMillis,
    memoryBytesPerReplica: memoryBytes,
  }
}

export const replicaRows = ({ series }: DeploymentMetrics): ReplicaRow[] =>
  series.map(({ lastMinute, rx, tx, ...replica }) => ({
    ...replica,
    ...lastMinute,
    rx: newest(rx),
    tx: newest(tx),
  }))

const newest = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
}

/** The rows with the highest CPU usage first, and those without a value last. */
export const byCpu = <T extends { readonly cpuMillis: number | null }>(rows: readonly T[]): T[] =>
  rows.toSorted((left, right) => (right.cpuMillis ?? -1) - (left.cpuMillis ?? -1))

/** Reads the metrics of several objects. One that was removed since it was listed is left out. */
export async function readEach<T, M>(
  items: readonly T[],
  read: (item: T) => Promise<Result<M>>,
): Promise<Result<(readonly [T, M])[]>> {
  const found: (readonly [T, M])[] = []
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const batch = items.slice(from, from + AT_ONCE)
    const answers = await Promise.all(batch.map(async (item) => ({ item, answer: await read(item) })))
    for (const { item, answer } of answers)
      if (answer.ok) found.push([item, answer.value])
      else if (answer.failure.kind !== 'rejected' || answer.failure.status !== 404) return answer
  }
  return { ok: true, value: found }
}

export const readDeployments = async (
  client: Client,
  names: readonly string[],
): Promise<Result<(readonly [string, DeploymentMetrics])[]>> =>
  readEach(names, (name) => client.deployments.metrics(name, SINCE))

export const millis = (value: number | null): string => (value === null ? '' : `${value}m`)
export const bytes = (value: number | null): string => (value === null ? '' : memory(value))
export const perSecond = (value: number | null): string => (value === null ? '' : `${memory(value)}/s`)

export const percent = (value: number | null, of: number | null): string =>
  value === null || of === null || of === 0 ? '' : `${Math.round((value * 100) / of)}%`
