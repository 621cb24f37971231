import { asVolumeId, type NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { desiredCopies } from './desired-copies.ts'
import { drainWaits, type GroupMember, handOver, nextHandover } from './handover.ts'
import { nextVolume } from './next-volume.ts'
import type { VolumeRecord } from './volume-record.ts'
import {
  aSituation,
  aSpec,
  aVolume,
  FAILED,
  LEAVING,
  node,
  present,
  primaryOn,
  replicaOn,
  SINCE,
  SIZE,
  type SituationParts,
} from './volume-world.fixture.ts'

const TO = nodeIdOf(2)
const CHECKPOINT = { epoch: 1, number: 7 }
const RELEASED = present({ released: { to: TO, checkpoint: CHECKPOINT } })
const DRAINED = { 1: LEAVING, 2: node(), 3: node() }
const EPHEMERAL = aSpec({ class: 'ephemeral', replicas: 0 })
const MOVING = aVolume({ handover: { to: TO, since: SINCE } })

interface MemberParts extends SituationParts {
  readonly writer?: boolean
  readonly refused?: readonly NodeId[]
}

const member = (volume: VolumeRecord = aVolume(), parts: MemberParts = {}): GroupMember => ({
  volume,
  situation: aSituation({ nodes: DRAINED, ...parts }),
  hasWriter: () => parts.writer ?? false,
  accepts: (nodeId) => parts.refused?.includes(nodeId) !== true,
})
const other = (parts: Partial<VolumeRecord> = {}) =>
  aVolume({ id: asVolumeId('vol_01JD0000000000000000000001'), ...parts })
const onThird = other({ copies: [primaryOn(1), replicaOn(3)] })
const onBoth = other({ copies: [primaryOn(1), replicaOn(3), replicaOn(2)] })

const START = { kind: 'start', to: TO }

test.each([
  ['a drained primary with a current replica', [member()], START],
  ['a primary whose node stays', [member(aVolume(), { nodes: { 1: node(), 2: node() } })], undefined],
  ['a writer that is not confirmed gone', [member(aVolume(), { writer: true })], undefined],
  [
    'a lagging replica',
    [member(aVolume({ copies: [primaryOn(1), replicaOn(2, { state: 'lagging' })] }))],
    undefined,
  ],
  ['a replica on a node that refuses primaries', [member(aVolume(), { refused: [TO] })], undefined],
  ['a volume that is degraded', [member(aVolume({ phase: 'Degraded' }))], undefined],
  ['a group with a common node', [member(), member(onBoth)], START],
  ['a group without a common node', [member(), member(onThird)], undefined],
  ['a group with one writer', [member(), member(onBoth, { writer: true })], undefined],
  ['a handover that is not released', [member(MOVING)], undefined],
  ['a released handover', [member(MOVING, { reports: { 1: RELEASED } })], { kind: 'complete', to: TO }],
  [
    'a release to another node',
    [member(MOVING, { reports: { 1: present({ released: { to: nodeIdOf(3), checkpoint: CHECKPOINT } }) } })],
    undefined,
  ],
  ['a release of an older epoch', [member(MOVING, { reports: { 1: { ...RELEASED, epoch: 0 } } })], undefined],
  [
    'a group of which one volume is released',
    [member(MOVING, { reports: { 1: RELEASED } }), member(other({ handover: { to: TO, since: SINCE } }))],
    undefined,
  ],
  ['a target that failed', [member(MOVING, { nodes: { 1: LEAVING, 2: FAILED } })], { kind: 'cancel' }],
  [
    'a target that is drained too',
    [member(MOVING, { nodes: { 1: LEAVING, 2: LEAVING } })],
    { kind: 'cancel' },
  ],
  [
    'a released volume whose target is drained too',
    [member(MOVING, { nodes: { 1: LEAVING, 2: LEAVING }, reports: { 1: RELEASED } })],
    { kind: 'complete', to: TO },
  ],
  [
    'a replica that leaves its node',
    [member(aVolume({ copies: [primaryOn(1), replicaOn(2, { evacuating: true })] }))],
    undefined,
  ],
  ['a target that was removed', [member(MOVING, { nodes: { 1: LEAVING } })], { kind: 'cancel' }],
  [
    'a target that is silent',
    [member(MOVING, { nodes: { 1: LEAVING, 2: node({ status: 'unreachable' }) } })],
    undefined,
  ],
  [
    'a group of which one volume stays behind',
    [member(MOVING, { reports: { 1: RELEASED } }), member(other({}))],
    { kind: 'cancel' },
  ],
  ['a target that lost its copy', [member({ ...MOVING, copies: [primaryOn(1)] })], { kind: 'cancel' }],
  ['a node that no longer leaves', [member(MOVING, { nodes: { 1: node(), 2: node() } })], { kind: 'cancel' }],
] as const)('the handover of %s', (_about, members, expected) => {
  expect(nextHandover(members)).toEqual(expected)
})

test('a handover moves the primary, counts the epoch and keeps the old copy', () => {
  const started = handOver(member(), { kind: 'start', to: TO })
  expect(desiredCopies(started).get(nodeIdOf(1))).toMatchObject({ handOverTo: TO, mayCreate: false })
  const moved = handOver(member(started, { reports: { 1: RELEASED } }), { kind: 'complete', to: TO })
  expect(moved).toMatchObject({
    phase: 'Promoting',
    handover: null,
    primary: { nodeId: TO, epoch: 2 },
    from: CHECKPOINT,
    copies: [
      { nodeId: nodeIdOf(1), role: 'replica', state: 'lagging' },
      { nodeId: TO, role: 'primary', state: 'seeding' },
    ],
  })
  expect(desiredCopies(moved).get(TO)).toEqual({
    volume: moved.id,
    epoch: 2,
    role: 'primary',
    sizeBytes: SIZE,
    desired: 'present',
    mayCreate: false,
    from: CHECKPOINT,
    peers: [nodeIdOf(1)],
    cv: 2,
    promotable: [],
  })
  const waiting = nextVolume(moved, aSituation({ nodes: DRAINED, reports: { 1: RELEASED } }))
  expect(waiting).toMatchObject({ volume: { phase: 'Promoting' } })
  const restored = nextVolume(moved, aSituation({ nodes: DRAINED, reports: { 2: present({ epoch: 2 }) } }))
  expect(restored).toMatchObject({ volume: { phase: 'Ready' }, occurrences: [{ kind: 'ready' }] })
})

test('a canceled handover leaves the primary its data in a new epoch, in which no release holds', () => {
  const started = aVolume({ handover: { to: TO, since: SINCE }, from: { epoch: 0, number: 3 } })
  const canceled = handOver(member(started, { reports: { 1: RELEASED } }), { kind: 'cancel' })
  expect(canceled).toMatchObject({
    handover: null,
    phase: 'Ready',
    primary: { nodeId: nodeIdOf(1), epoch: 2 },
  })
  expect(desiredCopies(canceled).get(nodeIdOf(1))).toEqual({
    volume: canceled.id,
    epoch: 2,
    role: 'primary',
    sizeBytes: SIZE,
    desired: 'present',
    mayCreate: false,
    peers: [TO],
    cv: 1,
    promotable: [],
  })
  const again = member({ ...canceled, handover: { to: TO, since: SINCE } }, { reports: { 1: RELEASED } })
  expect(nextHandover([again])).toBeUndefined()
})

test.each([
  ['for nothing if a current replica is elsewhere', [member()], undefined],
  ['for nothing while the handover is under way', [member(MOVING)], undefined],
  [
    'for a current copy',
    [member(aVolume({ copies: [primaryOn(1)] }))],
    'volume data has no current copy on a node that accepts its primary: wait until copies there are current, or add a copy on another node',
  ],
  [
    'for a copy that the spec does not demand',
    [member(aVolume({ copies: [primaryOn(1)], spec: aSpec({ replicas: 0 }) }))],
    'volume data has no current copy on a node that accepts its primary: add a copy of data',
  ],
  [
    'for one node for all volumes of a writer',
    [member(), member(onThird)],
    'volumes data, data have no current copies on one node that accepts their primaries: wait until copies there are current, or add a copy on another node',
  ],
  [
    'for a volume that is not ready',
    [member(aVolume({ phase: 'Degraded' }))],
    'volume data is Degraded and must be Ready first',
  ],
  ['for nothing if the volume is created again, empty', [member(aVolume({ spec: EPHEMERAL }))], undefined],
  [
    'for a volume without copies that has an anchored secret',
    [member(aVolume({ spec: EPHEMERAL }), { anchored: true })],
    'volume data has no copies and an anchored secret, so it is not created again elsewhere: move the data to a replicated volume, or remove the anchor',
  ],
] as const)('a drain waits %s', (_about, members, expected) => expect(drainWaits(members)).toBe(expected))

test('a node that loses its copy must delete it, and gets no peers', () => {
  const desired = desiredCopies(aVolume({ leaving: [{ nodeId: nodeIdOf(3), since: SINCE }] }))
  expect(desired.get(nodeIdOf(3))).toMatchObject({ desired: 'removed', mayCreate: false, peers: [] })
  expect(desired.get(nodeIdOf(2))).toMatchObject({ role: 'replica', mayCreate: false, peers: [nodeIdOf(1)] })
})

test('a primary may be created empty only until it was reported', () => {
  const [first] = desiredCopies(aVolume({ provisioned: false })).values()
  const [later] = desiredCopies(aVolume()).values()
  expect([first?.mayCreate, later?.mayCreate]).toEqual([true, false])
})
