import { expect, test } from 'vitest'
import type { LagSample } from '../operations/volumes/sample-lag.ts'
import { ALERTS } from './alerts.ts'
import { createMetrics, METRICS } from './metrics.ts'

async function linesOf(volumeLag: LagSample | undefined): Promise<string[]> {
  const metrics = createMetrics({
    storePressure: () => 0,
    storeSize: () => undefined,
    defragmentations: () => new Map(),
    cacheRevision: () => 1,
    holdsSilentNodes: () => false,
    unconfirmedAuthorities: () => new Map(),
    certificateExpiries: () => new Map([['/tls/server.pem', 1_800_000_000]]),
    secretIdExpiries: () => new Map([['api', 1_810_000_000]]),
    isCutOff: () => false,
    sessions: () => 2,
    countHolds: () => 3,
    environmentAnswers: () => new Map(),
    scalingDecisions: () => new Map(),
    countVolumes: () => ({
      ...{ byPhase: new Map(), replicasByState: new Map(), promotionsByCause: new Map() },
      ...{ missingCopies: 0, unprotected: 0, fenced: 0, divergences: 0, poolBytes: { total: 0, used: 0 } },
    }),
    volumeLag: () => volumeLag,
  })
  const { text } = await metrics.render()
  return text.split('\n').filter((line) => line.startsWith('holdfast_volume_lag'))
}

test('shows the lag of replicas in three series, however many replicas there are', async () => {
  expect(await linesOf({ seconds: [1, 2, 70], unknown: 4 })).toEqual([
    'holdfast_volume_lag_seconds{quantile="0.5"} 2',
    'holdfast_volume_lag_seconds{quantile="0.99"} 70',
    'holdfast_volume_lag_seconds{quantile="1"} 70',
    'holdfast_volume_lag_unknown 4',
  ])
})

test('shows no lag before it is measured, because 0 would mean that no replica is behind', async () => {
  expect(await linesOf(undefined)).toEqual([])
})

test('every suggested alert uses a metric that exists', () => {
  const names = Object.values(METRICS).map(({ name }) => name)
  for (const { expression } of ALERTS) {
    const used = /holdfast_[a-z_]+/.exec(expression)?.[0] ?? ''
    expect(names).toContain(used)
  }
})
