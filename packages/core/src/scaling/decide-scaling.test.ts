// The decision about the number of replicas, as a table: one row for each reason and each boundary.

import { SCALING_REASONS, type ScalingPolicy, type ScalingReason } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { decideScaling, type ScalingFacts } from './decide-scaling.ts'
import { explainScaling } from './explain-scaling.ts'
import { EMPTY_WINDOW, type ScalingWindow } from './scaling-window.ts'

const POLICY: ScalingPolicy = {
  min: 2,
  max: 20,
  metric: 'cpu',
  targetPercent: 50,
  scaleDownDelay: '300s',
}

/** Four replicas that request 200 millis each and use the target of 100 millis. */
const FACTS: ScalingFacts = {
  desired: 4,
  isStopped: false,
  ready: 4,
  measured: 4,
  usage: 100,
  request: 200,
  rollout: 'none',
  isDraining: false,
  unplaced: 0,
  room: 100,
}
const NOW = 1_000_000

/** Values of the last 300 s in which a number was wanted. */
const wantedFor300 = (wanted: number): ScalingWindow => ({
  since: NOW - 300_000,
  values: Array.from({ length: 10 }, (_, at) => ({ at: NOW - (10 - at) * 30_000, wanted })),
})

interface Given extends Partial<ScalingFacts> {
  readonly policy?: Partial<ScalingPolicy>
  readonly window?: ScalingWindow
}

type Row = readonly [about: string, given: Given, desired: number, reason: ScalingReason]

const ROWS: readonly Row[] = [
  ['the target exactly', {}, 4, 'steady'],
  ['10 % above the target', { usage: 110 }, 4, 'steady'],
  ['a little more than 10 % above the target', { usage: 111 }, 5, 'scale_up'],
  ['10 % below the target', { usage: 90, window: wantedFor300(3) }, 4, 'steady'],
  ['one and a half times the target', { usage: 150 }, 6, 'scale_up'],
  ['exactly a whole number of replicas', { usage: 125 }, 5, 'scale_up'],
  ['ten times the target: at most +4 or doubling', { usage: 1000 }, 8, 'scale_up'],
  [
    'a single replica: +4 is more than doubling',
    { desired: 2, ready: 2, measured: 2, usage: 1000 },
    6,
    'scale_up',
  ],
  [
    'ten replicas: doubling is more than +4',
    { desired: 10, ready: 10, measured: 10, usage: 1000 },
    20,
    'scale_up',
  ],
  ['more than the maximum', { usage: 150, policy: { max: 5 } }, 5, 'scale_up'],
  ['the maximum', { usage: 150, policy: { max: 4 } }, 4, 'at_max'],
  ['a low usage, first seen now', { usage: 40 }, 4, 'scale_down_delay'],
  ['a low usage of the whole delay', { usage: 40, window: wantedFor300(2) }, 2, 'scale_down'],
  ['a delay of 0s', { usage: 40, policy: { scaleDownDelay: '0s' } }, 2, 'scale_down'],
  ['the largest value of the delay', { usage: 40, window: wantedFor300(3) }, 3, 'scale_down'],
  [
    'one value of the delay that disagrees',
    {
      usage: 40,
      window: { ...wantedFor300(2), values: [...wantedFor300(2).values, { at: NOW - 1, wanted: 4 }] },
    },
    4,
    'scale_down_delay',
  ],
  [
    'a delay that is a second short',
    { usage: 40, window: { ...wantedFor300(2), since: NOW - 299_000 } },
    4,
    'scale_down_delay',
  ],
  [
    'a gap in the values of the delay',
    { usage: 40, window: { since: NOW - 300_000, values: [{ at: NOW - 91_000, wanted: 2 }] } },
    4,
    'scale_down_delay',
  ],
  ['less than the minimum', { usage: 0, window: wantedFor300(2), policy: { min: 3 } }, 3, 'scale_down'],
  ['the minimum', { usage: 0, window: wantedFor300(2), policy: { min: 4 } }, 4, 'at_min'],
  ['no sample', { measured: 0, usage: undefined }, 4, 'no_samples'],
  ['samples of half of the ready replicas', { measured: 2, usage: 1000 }, 4, 'no_samples'],
  ['samples of more than half, as after a lost gateway', { measured: 3, usage: 150 }, 6, 'scale_up'],
  ['low usage of half of the replicas', { measured: 2, usage: 0, window: wantedFor300(2) }, 4, 'no_samples'],
  ['no ready replica', { ready: 0, measured: 0, usage: undefined }, 4, 'not_ready'],
  ['replicas that start: the ready ones count', { desired: 8, ready: 4, usage: 200 }, 8, 'steady'],
  ['no request', { request: 0 }, 4, 'no_request'],
  ['high usage during a rollout', { usage: 1000, rollout: 'under_way' }, 4, 'rollout'],
  ['low usage during a rollout', { usage: 10, rollout: 'under_way', window: wantedFor300(2) }, 4, 'rollout'],
  ['high usage and a paused update', { usage: 1000, rollout: 'paused' }, 4, 'rollout_paused'],
  ['the target during a rollout', { rollout: 'under_way' }, 4, 'steady'],
  ['low usage during a drain', { usage: 10, isDraining: true, window: wantedFor300(2) }, 4, 'drain'],
  ['high usage during a drain', { usage: 150, isDraining: true }, 6, 'scale_up'],
  ['a replica without a node', { usage: 1000, unplaced: 1 }, 4, 'unplaced'],
  [
    'low usage and a replica without a node',
    { usage: 40, unplaced: 1, window: wantedFor300(2) },
    2,
    'scale_down',
  ],
  ['a quota with room for one container', { usage: 150, room: 1 }, 5, 'scale_up'],
  ['a reached quota', { usage: 150, room: 0 }, 4, 'quota'],
  ['an exceeded quota', { usage: 150, room: -3 }, 4, 'quota'],
  ['low usage and a reached quota', { usage: 40, room: 0, window: wantedFor300(2) }, 2, 'scale_down'],
  ['0 replicas in the spec', { isStopped: true, usage: 1000 }, 4, 'stopped'],
]

const decide = ({ policy, window = EMPTY_WINDOW, ...facts }: Given) =>
  decideScaling({ ...POLICY, ...policy }, { ...FACTS, ...facts }, window, NOW)

test.each(ROWS)('with %s', (_about, given, desired, reason) => {
  expect(decide(given).decision).toMatchObject({ desired, reason })
})

test('the table has a row for each reason', () => {
  expect(new Set(ROWS.map(([, , , reason]) => reason))).toEqual(new Set(SCALING_REASONS))
})

test('each reason has a text, with the measurement if there is one', () => {
  for (const [, given] of ROWS) {
    const facts = { ...FACTS, ...given }
    const { decision } = decide(given)
    const text = explainScaling({ ...POLICY, ...given.policy }, facts, decision)
    expect(text).toMatch(/\.$/)
    expect(text.includes(' wanted. ')).toBe(decision.wanted !== null)
  }
})

describe('the delay before replicas are removed', () => {
  const LOW: Given = { usage: 40 }
  const HIGH: Given = { usage: 100 }
  const UNKNOWN: Given = { measured: 0, usage: undefined }

  /** Runs a round every 30 s and returns the number of the first one that removes replicas. */
  function firstRemoval(rounds: readonly Given[], takeover?: number): number | undefined {
    let window = EMPTY_WINDOW
    for (const [round, given] of rounds.entries()) {
      // A new owner of the shard has no values.
      if (round === takeover) window = EMPTY_WINDOW
      const step = decideScaling(POLICY, { ...FACTS, ...given }, window, round * 30_000)
      if (step.decision.desired < FACTS.desired) return round
      window = step.window
    }
    return undefined
  }
  const low = (count: number) => Array.from({ length: count }, () => LOW)

  test('replicas are removed after ten rounds of 30 s', () => {
    expect(firstRemoval(low(30))).toBe(10)
  })
  test('a round at the target begins the delay again', () => {
    expect(firstRemoval([...low(5), HIGH, ...low(30)])).toBe(16)
  })
  test('a round without samples begins the delay again', () => {
    expect(firstRemoval([...low(5), UNKNOWN, ...low(30)])).toBe(16)
  })
  test('a rollout and a drain begin the delay again', () => {
    expect(firstRemoval([...low(5), { ...LOW, rollout: 'under_way' }, ...low(30)])).toBe(16)
    expect(firstRemoval([...low(5), { ...LOW, isDraining: true }, ...low(30)])).toBe(16)
  })
  test('a new owner of the shard begins the delay again', () => {
    expect(firstRemoval(low(30), 7)).toBe(17)
  })
})
