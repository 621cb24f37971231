import {
  type CanaryPhase,
  type CanaryProgress,
  type DeploymentSpec,
  decode,
  deploymentSpecShape,
} from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  checkCanaryPromotion,
  checkCanaryReplicas,
  checkCanaryRuns,
  checkCanaryStart,
  checkCanaryWeight,
} from './check-canary.ts'

const canary = (phase: CanaryPhase): CanaryProgress => ({
  phase,
  reason: '',
  since: '2026-11-18T10:00:00.000Z',
  replicas: 1,
  weight: 10,
  observe: '10m',
  failures: [],
})
const spec = (over: object = {}): DeploymentSpec =>
  decode(deploymentSpecShape, {
    kind: 'Deployment',
    name: 'web',
    image: 'registry.test/web:1',
    replicas: 3,
    secrets: [],
    secretsVersion: 0,
    resources: { cpuMillis: 0, memoryBytes: 0 },
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
    stopGracePeriod: '10s',
    ...over,
  })
const mount = (over: object) =>
  spec({ volumes: [{ volume: 'vol_1', target: '/d', type: 'volume', readOnly: false, ...over }] })
const summary = (found: readonly { readonly code: string; readonly field: string }[]): string =>
  found.map(({ code, field }) => `${code} at ${field}`).join(', ')

describe('starting a canary', () => {
  const start = {
    replicas: 1,
    own: 3,
    running: undefined,
    rollout: 'none' as const,
    isUnchanged: false,
    specs: [spec(), spec()],
  }
  test.each<[string, Partial<Parameters<typeof checkCanaryStart>[0]>, string]>([
    ['is possible', {}, ''],
    ['is possible with as many replicas as the deployment has', { replicas: 3 }, ''],
    ['needs fewer replicas', { replicas: 4 }, 'field_type_invalid at replicas'],
    ['is possible after an aborted one', { running: canary('aborted') }, ''],
    ['waits for one that starts', { running: canary('progressing') }, 'canary_state_invalid at canary'],
    ['waits for one that is observed', { running: canary('observing') }, 'canary_state_invalid at canary'],
    ['waits for one that is ready', { running: canary('ready') }, 'canary_state_invalid at canary'],
    ['waits for a rollout', { rollout: 'under_way' }, 'canary_state_invalid at canary'],
    ['waits for the end of a watch window', { rollout: 'watched' }, 'canary_state_invalid at canary'],
    ['waits for a revision that runs', { rollout: 'failed' }, 'canary_state_invalid at canary'],
    ['needs a deployment that runs', { own: 0 }, 'canary_state_invalid at canary'],
    ['needs a change', { isUnchanged: true }, 'canary_state_invalid at canary'],
    ['is impossible with a writer', { specs: [mount({}), mount({})] }, 'canary_state_invalid at canary'],
    [
      'is impossible if the change adds a writer',
      { specs: [spec(), mount({})] },
      'canary_state_invalid at canary',
    ],
    [
      'is impossible if the change removes a writer',
      { specs: [mount({}), spec()] },
      'canary_state_invalid at canary',
    ],
    ['is possible with a reader', { specs: [spec(), mount({ readOnly: true })] }, ''],
    ['is possible with memory', { specs: [spec(), mount({ type: 'tmpfs' })] }, ''],
    [
      'lists every reason',
      { replicas: 4, rollout: 'under_way' },
      'field_type_invalid at replicas, canary_state_invalid at canary',
    ],
  ])('%s', (_name, over, expected) => {
    expect(summary(checkCanaryStart({ ...start, ...over }))).toBe(expected)
  })
})

test.each([
  [-1, false],
  [0, false],
  [1, true],
  [50, true],
  [51, false],
  [1000, false],
])('a weight of %d is accepted: %s', (weight, isAccepted) => {
  expect(checkCanaryWeight(weight) === undefined).toBe(isAccepted)
})

test.each([
  [-1, false],
  [0, false],
  [1, true],
])('%d replicas are accepted: %s', (replicas, isAccepted) => {
  expect(checkCanaryReplicas(replicas) === undefined).toBe(isAccepted)
})

test.each<[CanaryPhase | 'none', boolean, boolean, boolean]>([
  ['none', false, false, false],
  ['aborted', false, false, false],
  ['progressing', true, false, true],
  ['observing', true, false, true],
  ['ready', true, true, true],
])('a canary in phase %s may be aborted %s, promoted %s, promoted by force %s', (phase, ...expected) => {
  const state = phase === 'none' ? undefined : canary(phase)
  const accepted = [
    checkCanaryRuns(state),
    checkCanaryPromotion(state, false),
    checkCanaryPromotion(state, true),
  ]
  expect(accepted.map((found) => found.length === 0)).toEqual(expected)
})
