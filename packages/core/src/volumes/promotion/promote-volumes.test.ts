// Tests the records after the votes of a copy: one promotion for one configuration, and never a part of a group.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nodeIdOf } from '../../scheduling/scheduling.fixture.ts'
import { SINCE } from '../volume-world.fixture.ts'
import { type GroupVote, promoteVolumes } from './promote-volumes.ts'
import { answer, held, replicated, unbounded, WAL } from './promotion-world.fixture.ts'

const voteFor = (...answers: readonly ReturnType<typeof answer>[]): GroupVote => ({
  nodeId: nodeIdOf(2),
  answers: answers.map((each) => ({ ...each, state: 'voted' })),
  cause: 'primary_silent',
})

test('a vote begins the next epoch on the node that voted, from its newest checkpoint', () => {
  const before = replicated({ handover: { to: nodeIdOf(2), since: SINCE }, unpromoted: 'copies_lagging' })
  const [after] = promoteVolumes([before], voteFor(answer()), SINCE) ?? []
  expect(after).toMatchObject({
    phase: 'Promoting',
    primary: { nodeId: nodeIdOf(2), epoch: 2, since: SINCE },
    from: { epoch: 1, number: 9 },
    promotable: [],
    cv: 5,
    handover: null,
    unpromoted: null,
    copies: [
      { nodeId: nodeIdOf(1), role: 'replica', state: 'missing' },
      { nodeId: nodeIdOf(2), role: 'primary', state: 'seeding' },
      { nodeId: nodeIdOf(3), role: 'replica', state: 'current' },
    ],
    promotions: [{ fromEpoch: 1, toEpoch: 2, checkpoint: 9, lossMs: 11_000, cause: 'primary_silent' }],
  })
})

test('the largest loss of a group is stated for every volume, and none if one has no bound', () => {
  const group = [replicated(), replicated({ id: WAL })]
  const late = answer({ volume: WAL, lastWriteBy: { boot: 1, ms: 30_000 } })
  const losses = (votes: GroupVote) =>
    promoteVolumes(group, votes, SINCE)?.map(({ promotions }) => promotions?.[0]?.lossMs)
  expect(losses(voteFor(answer(), late))).toEqual([21_000, 21_000])
  expect(losses(voteFor(answer(), unbounded(late)))).toEqual([null, null])
})

test('ten promotions are remembered, the newest first', () => {
  const past = {
    at: '',
    from: nodeIdOf(1),
    to: nodeIdOf(2),
    cause: 'forced' as const,
    checkpoint: 1,
    lossMs: null,
  }
  const promotions = Array.from({ length: 10 }, (_, at) => ({ ...past, fromEpoch: -at, toEpoch: 1 - at }))
  const [after] = promoteVolumes([replicated({ promotions })], voteFor(answer()), SINCE) ?? []
  expect(after?.promotions?.map(({ toEpoch }) => toEpoch)).toEqual([2, 1, 0, -1, -2, -3, -4, -5, -6, -7])
})

test.each([
  ['of an earlier configuration', voteFor(answer({ cv: 3 }))],
  ['of an earlier epoch', voteFor(answer({ epoch: 0 }))],
  ['that the node did not give', { ...voteFor(), answers: [answer()] }],
  ['of a node that is not promotable', { ...voteFor(answer()), nodeId: nodeIdOf(4) }],
  ['without a checkpoint', voteFor(answer({ held: [] }))],
])('a vote %s promotes nothing', (_about, vote) => {
  expect(promoteVolumes([replicated()], vote, SINCE)).toBeUndefined()
})

test('a node outside the promotable ones needs the word of the operator', () => {
  const before = replicated({ promotable: [] })
  const vote = voteFor(answer())
  expect(promoteVolumes([before], vote, SINCE)).toBeUndefined()
  expect(promoteVolumes([before], { ...vote, force: { primaryIsDead: false } }, SINCE)).toBeUndefined()
  const [after] = promoteVolumes([before], { ...vote, force: { primaryIsDead: true } }, SINCE) ?? []
  expect(after?.promotions).toMatchObject([{ lossMs: null }])
})

const small = fc.constantFrom(1, 1, 1, 2)
const anyAnswer = fc.record({
  epoch: small,
  cv: small,
  state: fc.constantFrom('expired' as const, 'voted' as const, 'voted' as const),
  numbers: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
})
const anyVolume = fc.record({
  epoch: small,
  cv: small,
  isPromotable: fc.boolean(),
  answer: fc.option(anyAnswer, { nil: undefined }),
})

/** Volumes of a group and the answers of node 2 about them, of any configuration. */
const anyGroup = fc.array(anyVolume, { minLength: 1, maxLength: 3 }).map((volumes) => {
  const ids = volumes.map((_, at) => `${WAL.slice(0, -1)}${at}` as typeof WAL)
  return {
    volumes: volumes.map(({ epoch, cv, isPromotable }, at) =>
      replicated({
        ...replicated(),
        id: ids[at] ?? WAL,
        primary: { nodeId: nodeIdOf(1), epoch, since: '' },
        cv,
        promotable: isPromotable ? [nodeIdOf(2)] : [],
      }),
    ),
    answers: volumes.flatMap(({ answer: given, epoch }, at) => {
      if (given === undefined) return []
      const { numbers, ...others } = given
      return [
        answer({ ...others, volume: ids[at] ?? WAL, held: numbers.map((number) => held(number, epoch)) }),
      ]
    }),
  }
})

test('no votes promote a part of a group, and one configuration is promoted once at most', () => {
  let promotions = 0
  fc.assert(
    fc.property(anyGroup, ({ volumes, answers }) => {
      const vote: GroupVote = { nodeId: nodeIdOf(2), answers, cause: 'primary_silent' }
      const after = promoteVolumes(volumes, vote, SINCE)
      if (after === undefined) return
      promotions += 1
      for (const [at, { primary, cv, from, id }] of after.entries()) {
        const before = volumes[at]
        expect([primary?.epoch, cv]).toEqual([(before?.primary?.epoch ?? 0) + 1, (before?.cv ?? 0) + 1])
        expect(from?.number).toBe(after[0]?.from?.number)
        expect(answers.find(({ volume }) => volume === id)).toMatchObject({
          epoch: before?.primary?.epoch,
          cv: before?.cv,
          state: 'voted',
        })
      }
      expect(after).toHaveLength(volumes.length)
      expect(promoteVolumes(after, vote, SINCE)).toBeUndefined()
      for (const [at] of volumes.entries())
        expect(promoteVolumes(volumes.with(at, after[at] ?? replicated()), vote, SINCE)).toBeUndefined()
    }),
    { numRuns: 2_000 },
  )
  expect(promotions).toBeGreaterThan(20)
})
