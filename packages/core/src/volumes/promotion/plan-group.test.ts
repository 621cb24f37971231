// Tests which copy of a volume group is prepared for promotion, and what keeps each of the others from it.

import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../../scheduling/scheduling.fixture.ts'
import { NOW, replicaOn } from '../volume-world.fixture.ts'
import { isInLineage } from './common-checkpoint.ts'
import { planGroup } from './plan-group.ts'
import {
  answer,
  groupFacts,
  held,
  replicated,
  unbounded,
  WAL,
  type WorldParts,
} from './promotion-world.fixture.ts'

const promotion = (fromEpoch: number, checkpoint: number, at = '2026-01-01T00:00:00.000Z') => ({
  at,
  fromEpoch,
  toEpoch: fromEpoch + 1,
  from: nodeIdOf(1),
  to: nodeIdOf(2),
  cause: 'primary_silent' as const,
  checkpoint,
  lossMs: 0,
})

/** The prepared node or the reason to wait, and what keeps each copy from being promoted. */
function planned(parts: WorldParts) {
  const plan = planGroup(groupFacts(parts))
  const nodes = plan.copies.map(({ nodeId, obstacle }) => `${nodeId === nodeIdOf(2) ? 2 : 3} ${obstacle}`)
  return ['prepare' in plan ? `prepare ${plan.prepare === nodeIdOf(2) ? 2 : 3}` : plan.wait, ...nodes]
}

const wal = replicated({ id: WAL })
const both = [replicated(), wal]
const forced = { force: true, primaryIsDead: false }
const recently = promotion(0, 1, new Date(NOW - 59_000).toISOString())

const ROWS: {
  readonly [about: string]: { readonly parts: WorldParts; readonly expected: readonly string[] }
} = {
  'the node whose promise expired is prepared': {
    parts: {},
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'of two copies the one with the newest checkpoint is prepared': {
    parts: { answers: { 2: [answer()], 3: [answer({ held: [held(10), held(9)] })] } },
    expected: ['prepare 3', '2 none', '3 none'],
  },
  'of two equal copies the one that loses less is prepared': {
    parts: { answers: { 2: [answer()], 3: [answer({ lastWriteBy: { boot: 1, ms: 19_000 } })] } },
    expected: ['prepare 3', '2 none', '3 none'],
  },
  'nothing is prepared while the primary sends heartbeats': {
    parts: { isPrimarySilent: false },
    expected: ['primary_alive', '2 none', '3 node_silent'],
  },
  'nothing is prepared soon after a promotion': {
    parts: { volumes: [replicated({ promotions: [recently] })] },
    expected: ['promoted_recently', '2 none', '3 node_silent'],
  },
  'an operator need not wait after a promotion': {
    parts: { volumes: [replicated({ promotions: [recently] })], demand: { ...forced, force: false } },
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'a node that still promises is not prepared': {
    parts: { answers: { 2: [answer({ state: 'promised' })], 3: [answer({ epoch: 2 })] } },
    expected: ['no_candidate', '2 promised', '3 promised'],
  },
  'a node that voted before is prepared again': {
    parts: { answers: { 2: [answer({ state: 'voted' })] } },
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'a node that the record does not list is not prepared': {
    parts: { volumes: [replicated({ promotable: [nodeIdOf(3)] })] },
    expected: ['no_candidate', '2 not_promotable', '3 node_silent'],
  },
  'a node that residency refuses is not prepared': {
    parts: { refused: [2] },
    expected: ['no_candidate', '2 refused_by_filter', '3 node_silent'],
  },
  'a copy that lags too much waits for an operator': {
    parts: { answers: { 2: [answer({ lastWriteBy: { boot: 1, ms: 82_000 } })] } },
    expected: ['lagging', '2 lagging', '3 node_silent'],
  },
  'force accepts a copy that lags': {
    parts: { answers: { 2: [answer({ lastWriteBy: { boot: 1, ms: 82_000 } })] }, demand: forced },
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'force needs the word of the operator for a node that is not promotable': {
    parts: { volumes: [replicated({ promotable: [] })], demand: forced },
    expected: ['no_candidate', '2 not_promotable', '3 not_promotable'],
  },
  'with that word the node is prepared': {
    parts: { volumes: [replicated({ promotable: [] })], demand: { force: true, primaryIsDead: true } },
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'an operator chooses the node': {
    parts: {
      answers: { 2: [answer()], 3: [answer({ held: [held(10)] })] },
      demand: { force: false, primaryIsDead: false, nodeId: nodeIdOf(2) },
    },
    expected: ['prepare 2', '2 none'],
  },
  'a loss without a bound is accepted for a copy that was current': {
    parts: { answers: { 2: [unbounded(answer())] } },
    expected: ['prepare 2', '2 none', '3 node_silent'],
  },
  'a loss without a bound is refused for a copy that lagged': {
    parts: {
      volumes: [
        replicated({ copies: [...replicated().copies.slice(0, 1), replicaOn(2, { state: 'lagging' })] }),
      ],
      answers: { 2: [unbounded(answer())] },
    },
    expected: ['lagging', '2 lagging'],
  },
  'a copy without a checkpoint is not prepared': {
    parts: { answers: { 2: [answer({ held: [] })] } },
    expected: ['no_candidate', '2 no_common_checkpoint', '3 node_silent'],
  },
  'a group needs an expired promise of every volume': {
    parts: { volumes: both, answers: { 2: [answer(), answer({ volume: WAL, state: 'promised' })] } },
    expected: ['no_candidate', '2 promised', '3 node_silent'],
  },
  'a group needs a node that every record lists': {
    parts: {
      volumes: [replicated(), replicated({ id: WAL, promotable: [nodeIdOf(3)] })],
      answers: { 2: [answer(), answer({ volume: WAL })] },
    },
    expected: ['no_candidate', '2 not_promotable', '3 node_silent'],
  },
  'a group needs a checkpoint of the same number': {
    parts: { volumes: both, answers: { 2: [answer(), answer({ volume: WAL, held: [held(7)] })] } },
    expected: ['no_candidate', '2 no_common_checkpoint', '3 node_silent'],
  },
}

describe('a promotion', () => {
  test.each(Object.entries(ROWS))('%s', (_about, { parts, expected }) => {
    expect(planned(parts)).toEqual(expected)
  })

  test('of a group starts from the newest number that all volumes have, and states the largest loss', () => {
    const answers = { 2: [answer(), answer({ volume: WAL, held: [held(10), held(8)] })] }
    const [copy] = planGroup(groupFacts({ volumes: both, answers })).copies
    expect(copy?.checkpoint).toMatchObject({ number: 8, lossMs: 12_000 })
  })

  test('of a volume without a primary waits', () => {
    expect(planned({ volumes: [replicated({ primary: null })] })[0]).toBe('no_candidate')
  })
})

describe('the lineage of a volume', () => {
  const epoch3 = { nodeId: nodeIdOf(1), epoch: 3, since: '' }
  const history = [promotion(2, 12), promotion(1, 8)]
  const volume = replicated({ primary: epoch3, from: { epoch: 2, number: 12 }, promotions: history })

  test.each([
    ['a checkpoint of the present epoch', 3, 13, true],
    ['a checkpoint with which the present epoch began', 2, 12, true],
    ['a later checkpoint that the promotion left behind', 2, 13, false],
    ['a checkpoint before both promotions', 1, 8, true],
    ['a checkpoint that the first promotion left behind', 1, 9, false],
    ['a checkpoint of a later epoch', 4, 1, false],
  ])('%s', (_about, epoch, number, expected) => {
    expect(isInLineage(volume, { epoch, number })).toBe(expected)
  })

  test('continues in an epoch that began with a canceled handover', () => {
    const { from: _checkpoint, ...canceled } = volume
    expect(isInLineage(canceled, { epoch: 2, number: 12 })).toBe(true)
    expect(isInLineage(canceled, { epoch: 1, number: 9 })).toBe(false)
  })

  test('ends with the promotions that the record remembers', () => {
    const promotions = Array.from({ length: 10 }, (_, at) => promotion(12 - at, 30 - at))
    const old = replicated({ primary: { ...epoch3, epoch: 13 }, from: { epoch: 12, number: 30 }, promotions })
    expect(isInLineage(old, { epoch: 3, number: 1 })).toBe(true)
    expect(isInLineage(old, { epoch: 2, number: 1 })).toBe(false)
  })
})
