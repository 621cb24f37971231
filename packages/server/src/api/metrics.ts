// Prometheus metrics, behind this one file. Names as operators expect them; no tenant label, which would grow without end.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { RequestMetrics } from './request-observer.ts'

export interface Metrics extends RequestMetrics {
  render(): Promise<{ readonly type: string; readonly text: string }>
}

export interface MetricSources {
  /** 0 to 1: how full the key-value store is. */
  storePressure(): number
  cacheRevision(): number
  /** Many nodes fell silent at once, and none is given up for now. */
  holdsSilentNodes(): boolean
  /** How often which answer was given to a node that asked for the environment of a container. */
  environmentAnswers(): ReadonlyMap<string, number>
}

/** Gauges that the library names like counters, which promtool refuses; the same by type come without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const registers = [registry]
  const durations = new Histogram({
    name: 'holdfast_api_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const rejections = new Counter({
    name: 'holdfast_rejections_total',
    help: 'Rejections answered, by code',
    labelNames: ['code'],
    registers,
  })
  gauge(
    'holdfast_store_pressure_ratio',
    'How full the key-value store is, from 0 to 1',
    sources.storePressure,
    registers,
  )
  gauge(
    'holdfast_cache_revision',
    'The revision that the cache has reached',
    sources.cacheRevision,
    registers,
  )
  gauge(
    'holdfast_mass_silence',
    '1 while many nodes fell silent at once and none is given up',
    () => (sources.holdsSilentNodes() ? 1 : 0),
    registers,
  )
  countAnswers(sources.environmentAnswers, registers)
  // Finding a series by its labels costs more than observing; there are few, and they never change.
  const known = new Map<string, ReturnType<typeof durations.labels>>()
  return {
    observeRequest: ({ route, method, status }, seconds) => {
      const name = `${method} ${route} ${status}`
      const series = known.get(name) ?? durations.labels(route, method, status)
      known.set(name, series)
      series.observe(seconds)
    },
    countRejection: (code) => rejections.inc({ code }),
    render: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

function gauge(name: string, help: string, read: () => number, registers: Registry[]): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    },
  })
}

function countAnswers(read: () => ReadonlyMap<string, number>, registers: Registry[]): void {
  new Counter({
    name: 'holdfast_environment_answers_total',
    help: 'Answers to nodes that asked for the environment of a container; already_answered is an alarm',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of read()) this.inc({ outcome }, count)
    },
  })
}
