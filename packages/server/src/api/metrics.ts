// The Prometheus metrics of the server. No metric has a tenant label, because the number of series would be unbounded.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { VolumeCounts } from '../operations/volumes/count-volumes.ts'
import { type LagSample, lagQuantile } from '../operations/volumes/sample-lag.ts'
import type { RequestMetrics } from './request-observer.ts'

export interface Metrics extends RequestMetrics {
  render(): Promise<{ readonly type: string; readonly text: string }>
}

export interface MetricSources {
  /** Share of the key-value store's quota that its largest file has, from 0 to 1. */
  storePressure(): number
  /** The sizes of that file; undefined until a member of the key-value store has answered. */
  storeSize(): { readonly fileBytes: number; readonly inUseBytes: number } | undefined
  /** Number of defragmentations of etcd members, by outcome. */
  defragmentations(): ReadonlyMap<string, number>
  cacheRevision(): number
  /** Returns true while a mass failure is detected, during which no node is declared failed. */
  holdsSilentNodes(): boolean
  /** The expiry of each certificate file of the configuration, in seconds since 1970; unreadable files are absent. */
  certificateExpiries(): ReadonlyMap<string, number>
  /** How many nodes have not confirmed each root to which the certificate of the listener will change. */
  unconfirmedAuthorities(): ReadonlyMap<string, number>
  /** The expiry of the secret id of each identity that this process uses, in seconds since 1970; unknown ones are absent. */
  secretIdExpiries(): ReadonlyMap<string, number>
  /** Returns true while this server does not reach the store although others do, and therefore accepts no agents. */
  isCutOff(): boolean
  /** Number of agents that are connected to this server. */
  sessions(): number
  /** Number of nodes of all tenants that remove nothing until an operator confirms a restored store. */
  countHolds(): number
  /** Number of the broker's answers to nodes that requested the environment of a container, by outcome. */
  environmentAnswers(): ReadonlyMap<string, number>
  /** Number of decisions of scaling policies, by reason. */
  scalingDecisions(): ReadonlyMap<string, number>
  /** Volumes, copies and pools of all tenants, as stored. */
  countVolumes(): VolumeCounts
  /** The lag of the replicas of all tenants; undefined while it is unknown. */
  volumeLag(): LagSample | undefined
}

/** Gauges of the Prometheus client library that are removed, because promtool rejects gauges named `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

interface MetricRow {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labelNames: readonly string[]
}

/** All metrics that Holdfast defines; docs/reference/metrics.md is generated from this list. */
export const METRICS = {
  requestDuration: {
    name: 'holdfast_api_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the request line to the end of the response',
    labelNames: ['route', 'method', 'status'],
  },
  rejections: {
    name: 'holdfast_rejections_total',
    type: 'counter',
    help: 'Rejections returned, by code',
    labelNames: ['code'],
  },
  storePressure: {
    name: 'holdfast_store_pressure_ratio',
    type: 'gauge',
    help: "Size of the key-value store's largest file as a share of its quota, from 0 to 1",
    labelNames: [],
  },
  storeFile: {
    name: 'holdfast_store_file_bytes',
    type: 'gauge',
    help: "Size of the key-value store's largest file. Absent until measured",
    labelNames: [],
  },
  defragmentations: {
    name: 'holdfast_store_defragmentations_total',
    type: 'counter',
    help: 'Defragmentations of etcd members by this server, by outcome',
    labelNames: ['outcome'],
  },
  storeInUse: {
    name: 'holdfast_store_in_use_bytes',
    type: 'gauge',
    help: "Bytes of the key-value store's largest file that hold data; a defragmentation releases the rest. Absent until measured",
    labelNames: [],
  },
  cacheRevision: {
    name: 'holdfast_cache_revision',
    type: 'gauge',
    help: 'Store revision that the cache has reached',
    labelNames: [],
  },
  massFailure: {
    name: 'holdfast_mass_silence',
    type: 'gauge',
    help: '1 while a mass failure is detected and no node is declared failed',
    labelNames: [],
  },
  certificateExpiry: {
    name: 'holdfast_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'Expiry of each certificate file that the configuration names, in seconds since 1970. An unreadable file has no value',
    labelNames: ['file'],
  },
  unconfirmedAuthorities: {
    name: 'holdfast_authority_unconfirmed_nodes',
    type: 'gauge',
    help: 'Nodes that have not confirmed a root of listen.tls.nextCa, by its fingerprint. With 0, listen.tls may change to it',
    labelNames: ['authority'],
  },
  secretIdExpiry: {
    name: 'holdfast_secret_id_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'Expiry of the secret id with which this process logs in to the secrets store, by identity, in seconds since 1970. One that never expires has no value',
    labelNames: ['identity'],
  },
  cutOff: {
    name: 'holdfast_gateway_cut_off',
    type: 'gauge',
    help: '1 while this server does not reach the key-value store although another one does, and therefore accepts no agents',
    labelNames: [],
  },
  agentSessions: {
    name: 'holdfast_agent_sessions',
    type: 'gauge',
    help: 'Agents that are connected to this server',
    labelNames: [],
  },
  nodeHolds: {
    name: 'holdfast_nodes_on_hold',
    type: 'gauge',
    help: 'Nodes of all tenants that remove nothing, because etcd was restored and no operator has confirmed it',
    labelNames: [],
  },
  environmentAnswers: {
    name: 'holdfast_environment_answers_total',
    type: 'counter',
    help: 'Broker responses to environment requests of nodes, by outcome; already_answered must stay 0',
    labelNames: ['outcome'],
  },
  scalingDecisions: {
    name: 'holdfast_scaling_decisions_total',
    type: 'counter',
    help: 'Decisions of scaling policies of the shards that this server owns, one each 30 s, by reason',
    labelNames: ['reason'],
  },
  volumes: {
    name: 'holdfast_volumes',
    type: 'gauge',
    help: 'Volumes of all tenants, by phase',
    labelNames: ['phase'],
  },
  volumeReplicas: {
    name: 'holdfast_volume_replicas',
    type: 'gauge',
    help: 'Replicas of volumes, by state; lagging ones are more than 15 s behind their primary',
    labelNames: ['state'],
  },
  volumeLag: {
    name: 'holdfast_volume_lag_seconds',
    type: 'gauge',
    help: 'Seconds by which replicas of volumes are behind their primary, measured every 30 s; quantile 1 is the replica that is furthest behind. Absent until measured',
    labelNames: ['quantile'],
  },
  unknownLag: {
    name: 'holdfast_volume_lag_unknown',
    type: 'gauge',
    help: 'Replicas of volumes whose lag is unknown: they were never complete, or the node of their primary does not answer',
    labelNames: [],
  },
  missingCopies: {
    name: 'holdfast_volume_copies_missing',
    type: 'gauge',
    help: 'Desired copies of volumes, primaries included, that have no node or whose data is missing',
    labelNames: [],
  },
  unprotectedVolumes: {
    name: 'holdfast_volumes_unprotected',
    type: 'gauge',
    help: 'Volumes with replicas of which no copy is promotable: nothing continues if the node of the primary dies',
    labelNames: [],
  },
  fencedVolumes: {
    name: 'holdfast_volumes_fenced',
    type: 'gauge',
    help: 'Volumes whose writers a fence has ended, because the node of the primary lost the promises of the copies',
    labelNames: [],
  },
  promotions: {
    name: 'holdfast_volume_promotions',
    type: 'gauge',
    help: 'Promotions of copies that the records of volumes remember, at most ten for each volume, by cause',
    labelNames: ['cause'],
  },
  divergences: {
    name: 'holdfast_volume_divergences',
    type: 'gauge',
    help: 'Former data of volumes that nodes keep in quarantine',
    labelNames: [],
  },
  poolBytes: {
    name: 'holdfast_pool_bytes',
    type: 'gauge',
    help: 'Bytes of the storage pools of all nodes, as last reported: in total and in use',
    labelNames: ['kind'],
  },
} as const satisfies { readonly [metric: string]: MetricRow }

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const registers = [registry]
  const durations = new Histogram({ ...METRICS.requestDuration, buckets: DURATION_BUCKETS, registers })
  const rejections = new Counter({ ...METRICS.rejections, registers })
  addGauge(METRICS.storePressure, sources.storePressure, registers)
  addOptionalGauge(METRICS.storeFile, () => sources.storeSize()?.fileBytes, registers)
  addOptionalGauge(METRICS.storeInUse, () => sources.storeSize()?.inUseBytes, registers)
  addGauge(METRICS.cacheRevision, sources.cacheRevision, registers)
  addGauge(METRICS.massFailure, () => (sources.holdsSilentNodes() ? 1 : 0), registers)
  addLabelled(METRICS.certificateExpiry, sources.certificateExpiries, registers)
  addLabelled(METRICS.unconfirmedAuthorities, sources.unconfirmedAuthorities, registers)
  addLabelled(METRICS.secretIdExpiry, sources.secretIdExpiries, registers)
  addGauge(METRICS.cutOff, () => (sources.isCutOff() ? 1 : 0), registers)
  addGauge(METRICS.agentSessions, sources.sessions, registers)
  addGauge(METRICS.nodeHolds, sources.countHolds, registers)
  addCounts(METRICS.environmentAnswers, sources.environmentAnswers, registers)
  addCounts(METRICS.defragmentations, sources.defragmentations, registers)
  addCounts(METRICS.scalingDecisions, sources.scalingDecisions, registers)
  addVolumeGauges(sources.countVolumes, registers)
  addLagGauges(sources.volumeLag, registers)
  // Finding a series by its labels costs more than observing a value, so series are cached by method, route and status.
  const seriesByName = new Map<string, ReturnType<typeof durations.labels>>()
  return {
    observeRequest: ({ route, method, status }, seconds) => {
      const name = `${method} ${route} ${status}`
      const series = seriesByName.get(name) ?? durations.labels(route, method, status)
      seriesByName.set(name, series)
      series.observe(seconds)
    },
    countRejection: (code) => rejections.inc({ code }),
    render: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

function addGauge({ name, help }: MetricRow, read: () => number, registers: Registry[]): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    },
  })
}

/** A gauge that is absent while its value is unknown. */
function addOptionalGauge(
  { name, help }: MetricRow,
  read: () => number | undefined,
  registers: Registry[],
): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      const value = read()
      // A gauge without labels would show 0 if it had no value.
      this.remove()
      if (value !== undefined) this.set(value)
    },
  })
}

/** A gauge with one label. A value that is no longer read disappears. */
function addLabelled(
  row: Pick<MetricRow, 'name' | 'help' | 'labelNames'>,
  read: () => ReadonlyMap<string, number>,
  registers: Registry[],
): void {
  new Gauge({
    ...row,
    registers,
    collect() {
      this.reset()
      for (const [value, number] of read()) this.labels(value).set(number)
    },
  })
}

/** A counter with one label, whose values are counted elsewhere. */
function addCounts(
  row: Pick<MetricRow, 'name' | 'help' | 'labelNames'>,
  read: () => ReadonlyMap<string, number>,
  registers: Registry[],
): void {
  new Counter({
    ...row,
    registers,
    collect() {
      this.reset()
      for (const [value, count] of read()) this.labels(value).inc(count)
    },
  })
}

function addVolumeGauges(read: () => VolumeCounts, registers: Registry[]): void {
  // All gauges are collected in the same turn, so one count over all tenants serves them.
  let counted: VolumeCounts | undefined
  const count = (): VolumeCounts => {
    if (counted === undefined)
      setImmediate(() => {
        counted = undefined
      })
    counted ??= read()
    return counted
  }
  const add = <Label extends string>(
    row: MetricRow & { readonly labelNames: readonly [Label] },
    valuesOf: (counts: VolumeCounts) => Iterable<readonly [string, number]>,
  ): void => {
    const [label] = row.labelNames
    new Gauge<string>({
      ...row,
      registers,
      collect() {
        this.reset()
        for (const [value, number] of valuesOf(count())) this.set({ [label]: value }, number)
      },
    })
  }
  add(METRICS.volumes, ({ byPhase }) => byPhase)
  add(METRICS.volumeReplicas, ({ replicasByState }) => replicasByState)
  add(METRICS.promotions, ({ promotionsByCause }) => promotionsByCause)
  addGauge(METRICS.missingCopies, () => count().missingCopies, registers)
  addGauge(METRICS.unprotectedVolumes, () => count().unprotected, registers)
  addGauge(METRICS.fencedVolumes, () => count().fenced, registers)
  addGauge(METRICS.divergences, () => count().divergences, registers)
  add(METRICS.poolBytes, ({ poolBytes }) => Object.entries(poolBytes))
}

/** The median, almost all replicas, and the one that is furthest behind. */
const LAG_QUANTILES = [0.5, 0.99, 1]

function addLagGauges(read: () => LagSample | undefined, registers: Registry[]): void {
  new Gauge({
    ...METRICS.volumeLag,
    registers,
    collect() {
      this.reset()
      const sample = read()
      if (sample !== undefined)
        for (const quantile of LAG_QUANTILES) this.set({ quantile }, lagQuantile(sample, quantile))
    },
  })
  addOptionalGauge(METRICS.unknownLag, () => read()?.unknown, registers)
}
