// Random load curves in virtual time: each decision of the loop is compared with a second form of the formula, written
// here from the rules alone, and no load within the tolerance ever changes the number of replicas.

import type { ScalingPolicy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { decideScaling, type ScalingFacts } from './decide-scaling.ts'
import { EMPTY_WINDOW } from './scaling-window.ts'

const CURVES = 50
const ROUNDS = 480
const ROUND_S = 30

/** Random numbers from 0 to 1, equal for equal seeds. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Curve {
  readonly policy: ScalingPolicy
  readonly delayS: number
  readonly request: number
  /** The load of all replicas together in each round, in millis. */
  readonly load: readonly number[]
  random(): number
}

/** A load that stays, jumps, climbs, falls and swings for random times. */
function curveOf(seed: number): Curve {
  const random = randomFrom(seed)
  const upTo = (most: number) => Math.floor(random() * most)
  const min = 1 + upTo(3)
  const delayS = upTo(11) * ROUND_S
  const load: number[] = []
  let level = 100 + upTo(2000)
  while (load.length < ROUNDS) {
    const length = 5 + upTo(40)
    const slope = random() < 0.5 ? 0 : (random() - 0.5) * 300
    const swing = random() < 0.5 ? 0 : random()
    if (random() < 0.4) level = upTo(6000)
    for (let at = 0; at < length; at += 1) {
      level = Math.max(0, level + slope)
      load.push(Math.round(level * (1 + swing * Math.sin(at / 3))))
    }
  }
  const policy: ScalingPolicy = {
    min,
    max: min + upTo(40),
    metric: 'cpu',
    targetPercent: 10 + upTo(86),
    scaleDownDelay: `${delayS}s`,
  }
  return { policy, delayS, request: 50 + upTo(400), load, random }
}

interface Round {
  readonly facts: ScalingFacts
  /** The number that the reference wants; undefined if it cannot know. */
  readonly wanted: number | undefined
}

/** The wanted number in whole-number arithmetic: the least number of replicas whose targets cover the usage of all. */
function referenceWanted(
  { min, max, targetPercent }: ScalingPolicy,
  facts: ScalingFacts,
): number | undefined {
  const { usage, measured, ready, request, desired } = facts
  if (usage === undefined || measured <= ready / 2) return undefined
  const target = BigInt(targetPercent) * BigInt(request)
  const used = 100n * BigInt(usage)
  const isTolerated = 10n * used >= 9n * target && 10n * used <= 11n * target
  let count = isTolerated ? desired : 0
  while (!isTolerated && BigInt(count) * target < BigInt(ready) * used) count += 1
  while (count < min) count += 1
  while (count > max) count -= 1
  return count
}

/** The desired number after all rounds so far, the last one included. */
function referenceDesired({ delayS }: Curve, rounds: readonly Round[]): number {
  const last = rounds.at(-1)
  if (last?.wanted === undefined) return last?.facts.desired ?? 0
  const { wanted, facts } = last
  const { desired } = facts
  if (wanted > desired) return Math.min(wanted, desired + Math.max(desired, 4))
  const inDelay = delayS / ROUND_S
  if (wanted === desired || rounds.length <= inDelay) return desired
  const values = rounds.slice(rounds.length - 1 - inDelay).map((round) => round.wanted)
  let highest = 0
  for (const value of values) {
    if (value === undefined || value >= desired) return desired
    if (value > highest) highest = value
  }
  return highest
}

/** Runs a curve with replicas that are ready one round after they are desired, and samples that are sometimes missing. */
function run(
  curve: Curve,
  onRound: (round: number, rounds: readonly Round[], desired: number) => void,
): void {
  const { policy, request, load, random } = curve
  const rounds: Round[] = []
  let window = EMPTY_WINDOW
  let desired = policy.min
  let ready = desired
  for (let round = 0; round < ROUNDS; round += 1) {
    const isMissing = random() < 0.03
    const measured = isMissing ? Math.floor(ready / 2) : ready
    const usage = measured === 0 ? undefined : Math.round((load[round] ?? 0) / ready)
    const facts: ScalingFacts = {
      ...{ desired, ready, measured, usage, request },
      ...{ isStopped: false, rollout: 'none', isDraining: false, unplaced: 0, room: 1000 },
    }
    rounds.push({ facts, wanted: referenceWanted(policy, facts) })
    const step = decideScaling(policy, facts, window, round * ROUND_S * 1000)
    window = step.window
    onRound(round, rounds, step.decision.desired)
    // New replicas are ready in the round after the next one; removed ones are gone at once.
    ready = Math.min(step.decision.desired, Math.max(ready, desired))
    desired = step.decision.desired
  }
}

test(`${CURVES} random load curves end each round at the number of the reference formula`, () => {
  let changes = 0
  for (let seed = 1; seed <= CURVES; seed += 1) {
    const curve = curveOf(seed)
    run(curve, (round, rounds, desired) => {
      const before = rounds.at(-1)?.facts.desired
      if (desired !== before) changes += 1
      const expected = referenceDesired(curve, rounds)
      const isWithin = desired >= curve.policy.min && desired <= curve.policy.max
      if (desired !== expected || !isWithin)
        throw new Error(`seed ${seed}, round ${round}: ${desired} instead of ${expected}`)
    })
  }
  // The curves must exercise the formula: most rounds of a curve that never changes would prove nothing.
  expect(changes).toBeGreaterThan(10 * CURVES)
})

test('a load within the tolerance never changes the number of replicas', () => {
  for (let seed = 1; seed <= CURVES; seed += 1) {
    const random = randomFrom(seed)
    const targetPercent = 10 + Math.floor(random() * 86)
    const count = 1 + Math.floor(random() * 30)
    const request = 1000
    const policy: ScalingPolicy = { min: 1, max: 100, metric: 'cpu', targetPercent, scaleDownDelay: '0s' }
    let window = EMPTY_WINDOW
    for (let round = 0; round < ROUNDS; round += 1) {
      const target = (request * targetPercent) / 100
      const usage = Math.round(target * (0.9 + 0.2 * random()))
      const facts: ScalingFacts = {
        ...{ desired: count, ready: count, measured: count, usage, request },
        ...{ isStopped: false, rollout: 'none', isDraining: false, unplaced: 0, room: 1000 },
      }
      const step = decideScaling(policy, facts, window, round * 30_000)
      window = step.window
      const isWithin = usage * 10 >= target * 9 && usage * 10 <= target * 11
      if (isWithin && step.decision.desired !== count)
        throw new Error(`seed ${seed}, round ${round}: ${step.decision.desired} instead of ${count}`)
    }
  }
})

test('a load that swings around the target settles: each change is followed by a whole delay before a removal', () => {
  for (let seed = 1; seed <= CURVES; seed += 1) {
    const curve = curveOf(seed)
    let raisedAt = Number.NEGATIVE_INFINITY
    run(curve, (round, rounds, desired) => {
      const before = rounds.at(-1)?.facts.desired ?? 0
      if (desired > before) raisedAt = round
      if (desired < before)
        expect((round - raisedAt) * ROUND_S, `seed ${seed}, round ${round}`).toBeGreaterThan(curve.delayS)
    })
  }
})
