// How far the replicas of all tenants are behind their primaries, for the metrics. A read returns the last sample and begins
// the next one, so that no scrape waits for a node. See docs/reference/metrics.md

import type { Measurement } from '@holdfast/contract'
import { type StoredVolume, tenants, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Measurements } from './measure-volumes.ts'

/** Each sample asks every node with a primary once. */
const SAMPLE_EVERY_MS = 30_000

export interface LagSample {
  /** Seconds of each replica whose lag is known, the lowest first. */
  readonly seconds: readonly number[]
  /** Replicas without a known lag: they were never complete, or the node of their primary does not answer. */
  readonly unknown: number
}

export interface LagDeps {
  readonly store: Pick<Store, 'list'>
  readonly measurements: Pick<Measurements, 'measure'>
  nowMs(): number
}

/** Returns the function that reads the last sample; undefined before the first one is complete. */
export function createLagSampler(deps: LagDeps): () => LagSample | undefined {
  let last: LagSample | undefined
  let begunMs = Number.NEGATIVE_INFINITY
  let isSampling = false
  return () => {
    if (!isSampling && deps.nowMs() - begunMs >= SAMPLE_EVERY_MS) {
      isSampling = true
      begunMs = deps.nowMs()
      // A sample that fails leaves no values: the last ones would hide the fault.
      void sampleLag(deps)
        .catch(() => undefined)
        .then((sample) => {
          last = sample
          isSampling = false
        })
    }
    return last
  }
}

async function sampleLag({ store, measurements }: LagDeps): Promise<LagSample> {
  const lags: (number | undefined)[] = []
  for (const { record: tenant } of store.list(tenants)) {
    const replicated = store
      .list(volumes, tenant.id)
      .map(({ record }) => record)
      .filter(({ copies, phase }) => copies.length > 1 && phase !== 'Deleting')
    const find = await measurements.measure(tenant.id, replicated)
    for (const volume of replicated) lags.push(...lagsOf(volume, find(volume)))
  }
  const seconds = lags.filter((lag) => lag !== undefined).toSorted((one, other) => one - other)
  return { seconds, unknown: lags.length - seconds.length }
}

const lagsOf = ({ copies }: StoredVolume, measured: Measurement | undefined): (number | undefined)[] =>
  copies
    .filter(({ role }) => role === 'replica')
    .map(({ nodeId }) => measured?.replicas?.find((replica) => replica.nodeId === nodeId)?.age)

/** The lag that this share of the replicas does not exceed; 0 without replicas. */
export function lagQuantile({ seconds }: LagSample, share: number): number {
  return seconds[Math.max(0, Math.ceil(share * seconds.length) - 1)] ?? 0
}
