// Changes of scaling policies for the test of the invariants, each with the invariant that it breaks.

import type { StoredPlacement } from '@holdfast/server/store/records'
import { asked, type Change, first, node, passed, quotaOf } from '../changes.fixture.ts'
import { aPlacement, N1, OWN, OWNER, written } from '../world.fixture.ts'

const TIME = '1970-01-01T00:00:00.000Z'
const REQUEST = { resources: { cpuMillis: 200, memoryBytes: 0 } }
const POLICY = { min: 1, max: 10, metric: 'cpu', targetPercent: 50, scaleDownDelay: '60s' } as const

/** The deployment with a policy whose target is 100 CPU millis, and with so many desired replicas. */
const scaled = (desired: number, spec: object = {}): Change =>
  asked(
    { ...REQUEST, ...spec },
    { scaling: { policy: POLICY, revision: 1, createdAt: TIME, updatedAt: TIME, desired } },
  )

const loaded =
  (cpuMillis: number): Change =>
  (world) => ({
    ...world,
    loads: new Map([[`${OWN}/web`, cpuMillis]]),
    loadsChangedAt: new Map([[`${OWN}/web`, world.now]]),
  })

const rollout: StoredPlacement['rollout'] = {
  ...{ revision: 1, templateHash: 'hash', since: 1, startedAt: TIME, progressedAt: TIME },
  ...{ ready: 0, state: 'progressing', replaces: true },
}
const rolledOut: Change = (world) =>
  written(world, 'placements', OWN, OWNER, aPlacement([first], { rollout }))

export const SCALING_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  ['scaling-bounds', 'more than the maximum', [scaled(11)]],
  ['scaling-bounds', 'a step too large', [scaled(1), scaled(6)]],
  ['scaling-bounds', 'a step while stopped', [scaled(1, { replicas: 0 }), scaled(2, { replicas: 0 })]],
  ['scaling-delay', 'fewer a moment after more', [scaled(1), passed(90_000), scaled(3), scaled(2)]],
  ['scaling-holds', 'more during a rollout', [scaled(1), rolledOut, passed(30_000), scaled(2)]],
  [
    'scaling-holds',
    'fewer during a drain',
    [scaled(2), node({ draining: true }, N1), passed(90_000), scaled(1)],
  ],
  ['scaling-holds', 'more while one has no node', [scaled(2), passed(30_000), scaled(3)]],
  ['scaling-holds', 'more without quota', [quotaOf(1), scaled(1), passed(30_000), passed(30_000), scaled(2)]],
  ['scaling-reference', 'a step within the tolerance', [scaled(1), loaded(109), passed(95_000), scaled(2)]],
  ['scaling-reference', 'more than the load needs', [scaled(1), loaded(150), passed(95_000), scaled(3)]],
  ['scaling-settled', 'fewer than the load needs', [scaled(1), loaded(150), passed(500_000)]],
]
