// Tests which copy continues if the node of the primary dies now, and the sentence about it.

import type { NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../../scheduling/scheduling.fixture.ts'
import { primaryOn, replicaOn } from '../volume-world.fixture.ts'
import { type ForecastFacts, ifPrimaryDies } from './if-primary-dies.ts'
import { copyText, forecastText } from './obstacle-texts.ts'
import { DATA, replicated, WAL } from './promotion-world.fixture.ts'

interface Parts {
  readonly volumes?: readonly ReturnType<typeof replicated>[]
  /** Ages of the data by the number of the node; the others are unknown. */
  readonly ages?: { readonly [number: number]: number }
  readonly silent?: readonly number[]
  readonly refused?: readonly number[]
}

const isOneOf = (numbers: readonly number[], nodeId: NodeId): boolean =>
  numbers.some((number) => nodeIdOf(number) === nodeId)
const nameOf = (nodeId: NodeId): string => `n${[1, 2, 3].find((number) => nodeIdOf(number) === nodeId)}`

function forecast({ volumes = [replicated()], ages = {}, silent = [], refused = [] }: Parts) {
  const facts: ForecastFacts = {
    members: volumes.map((volume) => ({ volume, accepts: (nodeId) => !isOneOf(refused, nodeId) })),
    limits: { maxLagMs: 60_000 },
    isReady: (nodeId) => !isOneOf(silent, nodeId),
    ageOf: (_volume, nodeId) => ages[Number(nameOf(nodeId).slice(1))],
  }
  return ifPrimaryDies(facts)
}

const one = (state: 'seeding' | 'current' | 'lagging' | 'missing') =>
  replicated({ copies: [primaryOn(1), replicaOn(2, { state })] })
const text = (parts: Parts, isSilent = false): string =>
  forecastText(forecast(parts), { nodeId: nodeIdOf(1), isSilent }, nameOf)

describe('if the primary dies', () => {
  const rows: [string, Parts, string][] = [
    ['the newest copy continues', { ages: { 2: 9, 3: 4 } }, 'n3 continues with the data of 4 s ago.'],
    ['a current copy of unknown age continues', {}, 'n2 continues with the data of its last checkpoint.'],
    [
      'a known age is better than an unknown one',
      { ages: { 3: 50 } },
      'n3 continues with the data of 50 s ago.',
    ],
    [
      'a silent node does not continue',
      { silent: [2], ages: { 2: 1, 3: 9 } },
      'n3 continues with the data of 9 s ago.',
    ],
  ]
  test.each(rows)('%s', (_what, parts, end) => expect(text(parts)).toBe(`If n1 dies now, ${end}`))

  const nothing: [string, Parts, string][] = [
    ['without a copy', { volumes: [replicated({ copies: [primaryOn(1)] })] }, 'it has no copy; set replicas'],
    ['with a silent node', { volumes: [one('current')], silent: [2] }, 'n2 does not answer; start its agent'],
    ['while the copy is seeded', { volumes: [one('seeding')] }, 'n2 has no common checkpoint'],
    ['with a copy that residency refuses', { volumes: [one('current')], refused: [2] }, 'n2 is refused by'],
    ['with a copy too far behind', { volumes: [one('lagging')], ages: { 2: 61 } }, 'n2 is further behind'],
    ['with a lagging copy of unknown age', { volumes: [one('lagging')] }, 'n2 is further behind'],
    [
      'with a copy whose promise the primary does not need',
      { volumes: [{ ...one('current'), promotable: [] }], ages: { 2: 1 } },
      'n2 is not promotable; wait until its agent',
    ],
    [
      'of a group of which the node has only one volume',
      { volumes: [one('current'), replicated({ id: WAL, copies: [primaryOn(1)] })], ages: { 2: 1 } },
      'n2 has no common checkpoint',
    ],
  ]
  test.each(nothing)('nothing continues %s', (_what, parts, reason) => {
    expect(text(parts)).toContain(`If n1 dies now, nothing continues: ${reason}`)
  })

  test('a group continues with the oldest of its volumes, and each copy is explained', () => {
    const facts: ForecastFacts = {
      members: [replicated(), replicated({ id: WAL })].map((volume) => ({ volume, accepts: () => true })),
      limits: { maxLagMs: 60_000 },
      isReady: (nodeId) => nodeId !== nodeIdOf(3),
      ageOf: (volume) => (volume === DATA ? 3 : 8),
    }
    const { continues, copies } = ifPrimaryDies(facts)
    expect(continues).toEqual({ nodeId: nodeIdOf(2), obstacle: 'none', ageSeconds: 8 })
    expect(copies.map((copy) => copyText(copy, nameOf))).toEqual([
      'n2 fits',
      'n3 does not answer; start its agent, or add a copy on another node',
    ])
  })
})

test('the forecast of a silent primary is about the present', () => {
  expect(text({ ages: { 2: 9 } }, true)).toBe('n1 does not answer; n2 continues soon.')
  expect(text({ volumes: [one('seeding')] }, true)).toMatch(
    /^n1 does not answer, and no copy replaces it: n2 .*\. Start its machine again, or promote a copy by force/,
  )
})

test('a copy that a silent primary has dropped waits for the primary, and its text names it', () => {
  const dropped = { volumes: [{ ...one('current'), promotable: [] }], ages: { 2: 1 } }
  expect(text(dropped, true)).toBe(
    'n1 does not answer, and no copy replaces it: n2 is not promotable; n1 may write without its promise, ' +
      'so the volume waits for n1. Start its machine again, or promote a copy by force if that machine is off for good.',
  )
})
