import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../../scheduling/scheduling.fixture.ts'
import { desiredCopies } from '../desired-copies.ts'
import { configurationOf } from '../group-configuration.ts'
import { handOver } from '../handover.ts'
import { nextVolume } from '../next-volume.ts'
import { replicasOf, type VolumeRecord, withCopies } from '../volume-record.ts'
import {
  aSituation,
  aVolume,
  LEAVING,
  node,
  present,
  primaryOn,
  replicaOn,
  SINCE,
} from '../volume-world.fixture.ts'
import { configureVolume } from './configure-volume.ts'
import { keepPromotable } from './keep-promotable.ts'

const [ONE, TWO, THREE] = [nodeIdOf(1), nodeIdOf(2), nodeIdOf(3)]
const COPIES = [primaryOn(1), replicaOn(2), replicaOn(3)]
const protectedBy = (parts: Partial<VolumeRecord> = {}) =>
  aVolume({ copies: COPIES, promotable: [TWO, THREE], cv: 5, ...parts })
const MOVING = protectedBy({ handover: { to: TWO, since: SINCE } })
const primaryIn = (epoch: number) => ({ nodeId: ONE, epoch, since: SINCE })

describe('a change of a volume', () => {
  test.each([
    ['leaves a volume without promises as it is', aVolume(), aVolume(), aVolume()],
    ['changes nothing by the state of a copy', protectedBy(), protectedBy({ phase: 'Degraded' }), { cv: 5 }],
    [
      'drops a node that loses its copy',
      protectedBy(),
      withCopies(protectedBy(), [primaryOn(1), replicaOn(3)], SINCE),
      { promotable: [THREE], cv: 6 },
    ],
    [
      'drops all nodes of a deleted volume',
      protectedBy(),
      withCopies(protectedBy(), [], SINCE),
      { promotable: [], cv: 6 },
    ],
    [
      'begins an epoch without promotable nodes',
      protectedBy(),
      protectedBy({ primary: primaryIn(2) }),
      { promotable: [], cv: 6 },
    ],
    ['counts the begin of a handover', protectedBy(), MOVING, { promotable: [TWO, THREE], cv: 6 }],
    [
      'keeps a version that the change has counted already',
      protectedBy(),
      protectedBy({ promotable: [TWO], cv: 6 }),
      { promotable: [TWO], cv: 6 },
    ],
    [
      'cancels a handover during which a promotable node is lost',
      MOVING,
      withCopies(MOVING, [primaryOn(1), replicaOn(2)], SINCE),
      { promotable: [], cv: 6, handover: null, primary: primaryIn(2) },
    ],
  ] as const)('%s', (_about, before, changed, expected) => {
    expect(keepPromotable(before, changed)).toMatchObject(expected)
  })

  test('drops a node that breaks the residency of the volume', () => {
    const situation = aSituation({
      nodes: { 1: node(), 2: node(), 3: node() },
      replicas: 2,
      strangers: [3],
    })
    const next = nextVolume(protectedBy({ spec: { ...aVolume().spec, replicas: 2 } }), situation)
    expect(next).toMatchObject({ volume: { promotable: [TWO], cv: 6, copies: COPIES } })
  })

  test.each([
    ['of a copy drops that node', { 1: node(), 2: node(), 3: node({ cannotPromise: true }) }, [TWO]],
    ['of the primary drops all', { 1: node({ cannotPromise: true }), 2: node(), 3: node() }, []],
  ] as const)('to an agent without promises %s', (_about, nodes, promotable) => {
    const next = nextVolume(protectedBy(), aSituation({ nodes, replicas: 2 }))
    expect(next).toMatchObject({ volume: { promotable, cv: 6 } })
  })

  test('drops a node that was removed', () => {
    const next = nextVolume(protectedBy(), aSituation({ nodes: { 1: node(), 2: node() } }))
    expect(next).toMatchObject({ volume: { promotable: [TWO], cv: 6 } })
  })
})

test('a record of an earlier version has no promotable node and the version 0', () => {
  const { promotable: _nodes, cv: _version, ...earlier } = aVolume()
  const configuration = { volume: earlier.id, epoch: 1, primary: ONE, promotable: [], cv: 0 }
  expect(configurationOf(earlier)).toEqual(configuration)
  const moving = { ...earlier, handover: { to: TWO, since: SINCE } }
  expect(configurationOf(moving)).toEqual({ ...configuration, handOverTo: TWO })
  const [primary, replica] = desiredCopies(earlier).values()
  for (const copy of [primary, replica]) expect(copy).toMatchObject({ cv: 0, promotable: [] })
  const images = [...desiredCopies(protectedBy(), ['image']).values()].map((copy) => copy.images)
  expect(images).toEqual([undefined, ['image'], ['image']])
})

describe('a request of the primary', () => {
  const grow = { kind: 'grow', volume: aVolume().id, epoch: 1, cv: 0, nodeId: TWO } as const
  const asked = (volume: VolumeRecord, from = ONE, accepted = true) =>
    configureVolume(volume, from, grow, () => accepted)

  test('adds a node and drops it again', () => {
    const grown = asked(aVolume())
    expect(grown).toMatchObject({ promotable: [TWO], cv: 1 })
    expect(configureVolume(grown, ONE, { ...grow, kind: 'shrink' }, () => true)).toMatchObject({
      promotable: [],
      cv: 2,
    })
  })

  const withReplica = (parts: object) => aVolume({ copies: [primaryOn(1), replicaOn(2, parts)] })
  test.each([
    ['another node', aVolume(), TWO, true],
    ['another configuration version', aVolume({ cv: 1 }), ONE, true],
    ['another epoch', aVolume({ primary: primaryIn(2) }), ONE, true],
    ['a handover', aVolume({ handover: { to: TWO, since: SINCE } }), ONE, true],
    ['a volume without a primary', aVolume({ primary: null, copies: [] }), ONE, true],
  ] as const)('changes nothing for %s', (_about, volume, from, accepted) => {
    expect(asked(volume, from, accepted)).toBe(volume)
  })

  test.each([
    ['a node that the scheduler refuses', aVolume(), false],
    ['a copy that was never complete', withReplica({ seeded: false }), true],
    ['a copy that is missing', withReplica({ state: 'missing' }), true],
    ['a copy that leaves its node', withReplica({ evacuating: true }), true],
    ['a node without a copy', aVolume({ copies: [primaryOn(1)] }), true],
  ] as const)('is refused with a newer version for %s', (_about, volume, accepted) => {
    expect(asked(volume, ONE, accepted)).toEqual({ ...volume, promotable: [], cv: 1 })
  })
})

const NUMBERS = [1, 2, 3, 4]
const SITUATION = {
  nodes: { 1: LEAVING, 2: node(), 3: node(), 4: node() },
  reports: { 1: present({ released: { to: TWO, checkpoint: { epoch: 1, number: 3 } } }) },
  free: NUMBERS,
  replicas: 3,
}
const aNumber = fc.constantFrom(...NUMBERS)

type Change = (volume: VolumeRecord) => VolumeRecord

const cut = fc.subarray(NUMBERS).map(
  (kept): Change =>
    (volume) => {
      const copies = volume.copies.filter(({ nodeId }) => kept.some((number) => nodeIdOf(number) === nodeId))
      return keepPromotable(volume, withCopies(volume, copies, SINCE))
    },
)
const decide = fc.tuple(fc.subarray(NUMBERS), fc.subarray(NUMBERS)).map(
  ([alive, strangers]): Change =>
    (volume) => {
      const nodes = Object.fromEntries(alive.map((number) => [number, node()]))
      const next = nextVolume(volume, aSituation({ ...SITUATION, nodes, strangers }))
      return next.kind === 'delete' ? volume : next.volume
    },
)
const step = fc.tuple(fc.constantFrom('start', 'cancel', 'complete'), aNumber).map(
  ([kind, number]): Change =>
    (volume) => {
      const member = {
        volume,
        situation: aSituation(SITUATION),
        hasWriter: () => false,
        accepts: () => true,
      }
      return handOver(member, kind === 'cancel' ? { kind } : { kind, to: nodeIdOf(number) })
    },
)
const request = fc.tuple(fc.constantFrom('shrink', 'grow'), aNumber, aNumber).map(
  ([kind, from, number]): Change =>
    (volume) => {
      const { cv = 0, primary } = volume
      const sent = {
        kind,
        volume: volume.id,
        epoch: primary?.epoch ?? 1,
        cv,
        nodeId: nodeIdOf(number),
      } as const
      return configureVolume(volume, nodeIdOf(from), sent, () => true)
    },
)

const configured = ({ primary, promotable = [], handover }: VolumeRecord) =>
  JSON.stringify([primary?.nodeId, primary?.epoch, promotable, handover?.to])

test('promotable nodes hold replicas, and every change of a configuration has a newer version', () => {
  const changes = fc.array(fc.oneof(cut, decide, step, request), { minLength: 8, maxLength: 20 })
  let changed = 0
  fc.assert(
    fc.property(changes, (all) => {
      let volume: VolumeRecord = protectedBy({ spec: { ...aVolume().spec, replicas: 3 } })
      for (const change of all) {
        const next = change(volume)
        const replicas = replicasOf(next).map(({ nodeId }) => nodeId)
        expect(replicas).toEqual(expect.arrayContaining([...(next.promotable ?? [])]))
        const isSame = configured(volume) === configured(next)
        if (!isSame) changed += 1
        const [before = 0, after = 0] = [volume.cv, next.cv]
        if (isSame) expect(after - before).toBeLessThanOrEqual(1)
        else expect(after).toBeGreaterThan(before)
        // A newer version of the same epoch ends a handover, in the eyes of a primary that has released its volume.
        const isMoving = volume.handover?.to !== undefined && volume.handover.to === next.handover?.to
        if (isMoving && volume.primary?.epoch === next.primary?.epoch) expect(after).toBe(before)
        volume = next
      }
    }),
    { numRuns: 300 },
  )
  expect(changed).toBeGreaterThan(300)
})
