// The decisions of replication: what a replica accepts, when a primary takes a checkpoint, which ones it keeps, and when it
// may hand over.

import { asNodeId, asVolumeId, type DesiredCopy, type VolumeCheckpoint } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { baseOf, nextNumber, surplusCheckpoints } from './checkpoints.ts'
import { hasRoomForStream, judgeIncoming, maxStreamBytes, type OfferedCheckpoint } from './judge-incoming.ts'
import {
  completeCheckpoint,
  needsCheckpoint,
  newestOfGroup,
  type OwnCheckpoint,
  outdatedCheckpoints,
  type PrimaryFacts,
  type ReplicaFacts,
} from './plan-checkpoint.ts'
import { planHandover } from './plan-handover.ts'
import { replicaState } from './replica-state.ts'

const [PRIMARY, OTHER] = [asNodeId('node_p'), asNodeId('node_o')]
const at = (epoch: number, number: number) => ({ epoch, number })
const HOUR_MS = 3_600_000

describe('a checkpoint that another node offers', () => {
  const copy: DesiredCopy = {
    volume: asVolumeId('vol_1'),
    epoch: 3,
    role: 'replica',
    sizeBytes: 1000,
    desired: 'present',
    mayCreate: false,
    peers: [PRIMARY],
  }
  const offer: OfferedCheckpoint = { from: PRIMARY, epoch: 3, number: 5 }
  const held = [at(2, 9), at(3, 4)]
  const refusals: [string, Partial<OfferedCheckpoint>, Partial<DesiredCopy>, string][] = [
    ['for a copy that must be removed', {}, { desired: 'removed' }, 'no_copy'],
    ['for a volume of which this node is the primary', {}, { role: 'primary' }, 'not_replica'],
    ['from a node that is not the primary', { from: OTHER }, {}, 'not_primary'],
    ['while two nodes are named', {}, { peers: [PRIMARY, OTHER] }, 'not_primary'],
    ['while no node is named', {}, { peers: [] }, 'not_primary'],
    ['of an earlier epoch', { epoch: 2, number: 99 }, {}, 'old_epoch'],
    ['of an epoch below one that it has', { epoch: 2, number: 99 }, { epoch: 2 }, 'old_epoch'],
    ['of an epoch that the server has not named', { epoch: 4 }, {}, 'unknown_epoch'],
    ['that is older than the newest one', { number: 3 }, {}, 'old_checkpoint'],
    ['with a base that it lacks', { base: at(3, 3) }, {}, 'unknown_base'],
  ]
  test.each(refusals)('is refused %s', (_when, offered, desired, reason) => {
    const verdict = judgeIncoming({ ...offer, ...offered }, { ...copy, ...desired }, held)
    expect(verdict).toEqual({ kind: 'refuse', reason })
  })
  test('is refused for a volume of which this node must hold no copy', () =>
    expect(judgeIncoming(offer, undefined, [])).toEqual({ kind: 'refuse', reason: 'no_copy' }))
  test.each([
    ['in full', {}],
    ['as changes since the newest one', { base: at(3, 4) }],
    ['as changes since one of an earlier primary', { base: at(2, 9) }],
  ])('is accepted %s', (_how, offered) =>
    expect(judgeIncoming({ ...offer, ...offered }, copy, held)).toEqual({
      kind: 'accept',
      maxBytes: maxStreamBytes(1000),
    }),
  )
  test.each([
    ['an empty pool', 100, 0, true],
    ['a pool with little left', 100, 98, false],
    ['a full pool', 100, 100, false],
    ['a large pool with some GiB left', 1e13, 1e13 - 4e9, true],
  ])('has room in %s', (_what, poolBytes, usedBytes, room) =>
    expect(hasRoomForStream({ poolBytes, usedBytes })).toBe(room),
  )
  test('is not sent again if the replica has it', () =>
    expect(judgeIncoming({ ...offer, number: 4 }, copy, held)).toEqual({ kind: 'held' }))
})

test.each([
  ['nothing in common', [at(1, 1)], [at(1, 2)], undefined],
  ['the newest in common', [at(1, 1), at(1, 3), at(1, 4)], [at(1, 1), at(1, 3)], at(1, 3)],
  ['one of an earlier epoch', [at(1, 9), at(2, 1)], [at(1, 9)], at(1, 9)],
  ['never the checkpoint itself', [at(2, 5)], [at(2, 5)], undefined],
])('chooses the base of a stream: %s', (_what, own, held, base) =>
  expect(baseOf(own, held, at(2, 5))).toEqual(base),
)

test.each([
  ['starts at 1', [], 1],
  ['continues its own', [at(2, 4)], 5],
  ['continues after what a replica has', [at(2, 4), at(2, 7)], 8],
  ['continues after those of other epochs', [at(1, 40), at(3, 9)], 41],
])('the number of the next checkpoint %s', (_what, known, number) => expect(nextNumber(known)).toBe(number))

test.each<[string, VolumeCheckpoint[], VolumeCheckpoint | undefined, VolumeCheckpoint[]]>([
  ['drops all but the newest two', [at(1, 9), at(2, 3), at(2, 1)], at(2, 3), [at(1, 9)]],
  ['drops nothing of two', [at(2, 3), at(2, 1)], at(2, 3), []],
  ['drops nothing while the volume changes', [at(1, 9), at(2, 1), at(2, 3)], undefined, []],
  ['drops nothing if it lacks the newest', [at(1, 8), at(1, 9), at(2, 1)], at(2, 3), []],
  ['drops nothing below a newer one', [at(1, 8), at(1, 9), at(2, 1)], at(1, 9), []],
  ['drops nothing if it has none', [], at(2, 3), []],
])('a replica of an idle volume %s', (_what, held, unchanged, dropped) =>
  expect(surplusCheckpoints(held, unchanged)).toEqual(dropped),
)

const own = (epoch: number, number: number, generation: number): OwnCheckpoint => ({
  ...at(epoch, number),
  generation,
  origin: 'taken',
})
const facts = (generation: number, ...list: OwnCheckpoint[]): PrimaryFacts => ({
  epoch: 2,
  generation,
  own: list,
})
const replica = (held: ReplicaFacts['held'], rest: Partial<ReplicaFacts> = {}): ReplicaFacts => ({
  held,
  inFlight: undefined,
  silentMs: 0,
  ...rest,
})

describe('a primary', () => {
  const changed = facts(20, own(2, 1, 10))
  const received: OwnCheckpoint = { ...own(2, 1, 20), origin: 'received' }
  test.each([
    ['takes a checkpoint of a changed volume', changed, [replica([at(2, 1)])], true],
    ['takes none of an idle volume', facts(10, own(2, 1, 10)), [replica([at(2, 1)])], false],
    ['takes the first one of its epoch', facts(10, own(1, 9, 10)), [replica([at(1, 9)])], true],
    ['takes its own beside a received one', facts(10, received), [replica([])], true],
    ['takes none without replicas', changed, [], false],
    ['takes none for a replica that has not answered', changed, [replica(undefined)], false],
    ['takes none for a silent replica', changed, [replica([at(2, 1)], { silentMs: 41_000 })], false],
    ['takes none while the last one is on its way', changed, [replica([], { inFlight: at(2, 1) })], false],
    ['takes none for a replica that still needs the last one', changed, [replica([])], false],
    ['serves one replica while another is silent', changed, [replica(undefined), replica([at(2, 1)])], true],
  ])('%s', (_what, primary, replicas, needs) =>
    expect(needsCheckpoint([{ facts: primary, replicas }])).toBe(needs),
  )

  test('takes checkpoints of a group together, once each volume has a replica that waits', () => {
    const idle = facts(10, own(2, 1, 10))
    const ready = [replica([at(2, 1)])]
    const busy = [replica([], { inFlight: at(2, 1) })]
    const group = (replicas: ReplicaFacts[]) => [
      { facts: changed, replicas: ready },
      { facts: idle, replicas },
    ]
    expect([needsCheckpoint(group(ready)), needsCheckpoint(group(busy))]).toEqual([true, false])
  })

  test('takes another checkpoint of an idle group if only one of its volumes has the newest one', () => {
    const half = facts(20, own(2, 1, 10), own(2, 2, 20))
    const whole = facts(10, own(2, 1, 10))
    const replicas = [replica([at(2, 1)])]
    const group = [half, whole].map((one) => ({ facts: one, replicas }))
    expect(newestOfGroup([half, whole])).toBe(1)
    expect(needsCheckpoint(group)).toBe(true)
    expect(needsCheckpoint(group.slice(1))).toBe(false)
  })
  test.each([
    ['of one volume', [facts(9, own(2, 1, 5), own(2, 2, 9))], 2],
    ['of two volumes', [facts(9, own(2, 2, 9)), facts(9, own(2, 1, 5), own(2, 2, 8))], 2],
    ['of volumes without a common one', [facts(9, own(2, 7, 9)), facts(9, own(2, 3, 8))], undefined],
    ['of a volume without any', [facts(9, own(2, 1, 9)), facts(9)], undefined],
  ])('knows the newest number of a group: %s', (_what, group, number) =>
    expect(newestOfGroup(group)).toBe(number),
  )

  test.each([
    ['the newest one of a clean volume', facts(10, own(2, 1, 10)), facts(12, own(2, 1, 10)), at(2, 1)],
    ['the one that the round took', changed, facts(25, own(2, 1, 10), own(2, 2, 20)), at(2, 2)],
    ['the first one', facts(5), facts(5, own(2, 1, 5)), at(2, 1)],
    ['none if the round took none of a changed volume', changed, changed, undefined],
    ['none without any', facts(5), facts(5), undefined],
    ['no received one', facts(10), facts(10, received), undefined],
  ])('has everything written before the round in %s', (_what, flushed, after, complete) =>
    expect(completeCheckpoint(flushed, after)).toEqual(complete),
  )

  const four = facts(50, own(1, 9, 5), own(2, 1, 10), own(2, 2, 20), own(2, 3, 30))
  test.each([
    ['keeps the newest and the common one', [replica([at(2, 1)])], 0.5, [at(1, 9), at(2, 2)]],
    ['keeps the one in flight', [replica([at(1, 9)], { inFlight: at(2, 2) })], 0.5, [at(2, 1)]],
    ['keeps all for a replica that has not answered', [replica(undefined)], 0.1, []],
    ['keeps the newest for an empty replica', [replica([])], 0.5, [at(1, 9), at(2, 1), at(2, 2)]],
    [
      'keeps those of a silent replica',
      [replica([at(2, 1)], { silentMs: HOUR_MS })],
      0.5,
      [at(1, 9), at(2, 2)],
    ],
    [
      'drops all for one that is silent for a day',
      [replica([at(2, 1)], { silentMs: 24 * HOUR_MS })],
      0.5,
      'all',
    ],
    [
      'drops all for a silent one if space is short',
      [replica(undefined, { silentMs: HOUR_MS })],
      0.14,
      'all',
    ],
    ['drops none for an answering one if space is short', [replica([at(2, 1)])], 0.01, [at(1, 9), at(2, 2)]],
    ['drops all without replicas', [], 0.5, 'all'],
  ])('%s', (_what, replicas, freeShare, dropped) => {
    const all = four.own.map(({ epoch, number }) => at(epoch, number))
    expect(outdatedCheckpoints(four, replicas, freeShare)).toEqual(dropped === 'all' ? all : dropped)
  })
})

describe('a handover', () => {
  const clean = facts(10, own(2, 1, 10))
  const changed = facts(11, own(2, 1, 10))
  test.each([
    ['replicates while a writer may run', { ...clean, isWritten: true, held: [at(2, 1)] }, 'replicate'],
    ['takes the last checkpoint', { ...changed, isWritten: false, held: [at(2, 1)] }, 'take'],
    ['takes one of its own epoch', { ...facts(9, own(1, 9, 9)), isWritten: false, held: [at(1, 9)] }, 'take'],
    ['sends the last checkpoint', { ...clean, isWritten: false, held: [] }, 'send'],
    ['waits for a successor that does not answer', { ...clean, isWritten: false, held: undefined }, 'send'],
    ['abdicates after the acknowledgement', { ...clean, isWritten: false, held: [at(2, 1)] }, 'abdicate'],
  ])('%s', (_what, handover, kind) => expect(planHandover(handover)).toMatchObject({ kind }))
})

test.each([
  ['seeding', undefined, 0],
  ['current', at(1, 1), 15_000],
  ['lagging', at(1, 1), 15_001],
  ['lagging', at(1, 1), undefined],
])('a replica is %s', (state, acknowledged, ageMs) => {
  const asOfMs = ageMs === undefined ? undefined : 100_000 - ageMs
  expect(replicaState({ acknowledged, asOfMs }, 100_000)).toBe(state)
})
