import { expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { COPY_GRACE_MS } from './move-copies.ts'
import { nextVolume } from './next-volume.ts'
import type { VolumeRecord } from './volume-record.ts'
import {
  aSituation,
  aSpec,
  aVolume,
  FAILED,
  LEAVING,
  NOW,
  node,
  present,
  primaryOn,
  replicaOn,
  SINCE,
  SIZE,
  type SituationParts,
} from './volume-world.fixture.ts'

const seeding = { state: 'seeding', seeded: false } as const
const leaves = (...numbers: number[]) => numbers.map((number) => ({ nodeId: nodeIdOf(number), since: SINCE }))

const PENDING = aVolume({
  phase: 'Pending',
  reason: 'unschedulable',
  primary: null,
  copies: [],
  provisioned: false,
})
const MATERIALIZING = aVolume({
  phase: 'Materializing',
  copies: [primaryOn(1, seeding), replicaOn(2, seeding)],
  provisioned: false,
})
const RESIZING = aVolume({ phase: 'Resizing', spec: aSpec({ sizeBytes: 2 * SIZE }) })
const EPHEMERAL = aVolume({ spec: aSpec({ class: 'ephemeral', replicas: 0 }), copies: [primaryOn(1)] })
const ALONE = aVolume({ spec: aSpec({ replicas: 0 }), copies: [primaryOn(1)] })
const FAILED_LONG = node({ status: 'failed', statusSince: NOW - COPY_GRACE_MS })
const reportsOf = (state: 'seeding' | 'current' | 'lagging', size = SIZE) => ({
  1: present({ sizeBytes: size, replicas: [{ nodeId: nodeIdOf(2), state }] }),
  2: present({ sizeBytes: size }),
})

/** The phase, reason and copies after a step, and the kinds of its events. */
function outcome(volume: VolumeRecord, parts: SituationParts): string[] {
  const next = nextVolume(volume, aSituation({ replicas: volume.spec.replicas, ...parts }))
  if (next.kind === 'delete') return ['deleted']
  const { phase, reason, copies, leaving = [], primary } = next.volume
  const of = ({ nodeId }: { nodeId: string }) => Number(nodeId.slice(5))
  return [
    `${phase}${reason === null ? '' : ` ${reason}`}`,
    ...copies.map((copy) => `${of(copy)} ${copy.role} ${copy.state}${copy.evacuating ? ' evacuating' : ''}`),
    ...leaving.map((left) => `${of(left)} leaves`),
    ...(primary === null ? [] : [`epoch ${primary.epoch}`]),
    ...next.occurrences.map(({ kind }) => kind),
  ]
}

const READY = ['Ready', '1 primary current', '2 replica current', 'epoch 1']

type Row = readonly [about: string, volume: VolumeRecord, parts: SituationParts, expected: readonly string[]]

const ROWS: readonly Row[] = [
  ['a ready volume stays as it is', aVolume(), {}, READY],
  ['a pending volume waits without a node', PENDING, { free: [] }, ['Pending unschedulable']],
  [
    'a pending volume is placed as soon as nodes fit',
    PENDING,
    { free: [2, 1], reports: {} },
    ['Materializing', '2 primary seeding', '1 replica seeding', 'epoch 1', 'replica_added'],
  ],
  [
    'a placed volume waits for its primary',
    MATERIALIZING,
    { reports: { 1: present({ state: 'pending', sizeBytes: 0 }) } },
    ['Materializing', '1 primary seeding', '2 replica seeding', 'epoch 1'],
  ],
  [
    'a primary that cannot be created says why',
    MATERIALIZING,
    { reports: { 1: present({ state: 'failed', reason: 'no_room' }) } },
    ['Materializing no_room', '1 primary seeding', '2 replica seeding', 'epoch 1'],
  ],
  [
    'a report of an older epoch counts for nothing',
    { ...MATERIALIZING, primary: { nodeId: nodeIdOf(1), epoch: 2, since: SINCE } },
    {},
    ['Materializing', '1 primary seeding', '2 replica seeding', 'epoch 2'],
  ],
  [
    'a volume is ready with its primary, before its copies',
    MATERIALIZING,
    { reports: { 1: present() } },
    ['Ready under_replicated', '1 primary current', '2 replica seeding', 'epoch 1', 'ready'],
  ],
  [
    'a primary with another size is not ready',
    MATERIALIZING,
    { reports: { 1: present({ sizeBytes: 1 }) } },
    ['Materializing', '1 primary current', '2 replica seeding', 'epoch 1'],
  ],
  [
    'a lagging replica is a reason',
    aVolume(),
    { reports: reportsOf('lagging') },
    ['Ready replica_lagging', '1 primary current', '2 replica lagging', 'epoch 1'],
  ],
  [
    'a silent replica is missing',
    aVolume(),
    { nodes: { 1: node(), 2: node({ status: 'unreachable' }) } },
    ['Ready under_replicated', '1 primary current', '2 replica missing', 'epoch 1'],
  ],
  [
    'a replica that returns lags until the primary reports it',
    aVolume({ copies: [primaryOn(1), replicaOn(2, { state: 'missing' })] }),
    { reports: { 1: present() } },
    ['Ready replica_lagging', '1 primary current', '2 replica lagging', 'epoch 1'],
  ],
  [
    'a replica whose pool has a fault is missing',
    aVolume(),
    { reports: { ...reportsOf('current'), 2: present({ state: 'failed', reason: 'no_pool' }) } },
    ['Ready under_replicated', '1 primary current', '2 replica missing', 'epoch 1'],
  ],
  [
    'a silent primary leaves the volume ready',
    aVolume(),
    { nodes: { 1: node({ status: 'unreachable' }), 2: node() } },
    ['Ready primary_unreachable', '1 primary missing', '2 replica current', 'epoch 1'],
  ],
  [
    'a failed node degrades its volumes',
    aVolume(),
    { nodes: { 1: FAILED, 2: node() } },
    ['Degraded node_failed', '1 primary missing', '2 replica current', 'epoch 1', 'degraded'],
  ],
  [
    'a pool with a fault degrades its volumes',
    aVolume(),
    { nodes: { 1: node({ hasPool: false }), 2: node() } },
    ['Degraded pool_unreadable', '1 primary current', '2 replica current', 'epoch 1', 'degraded'],
  ],
  [
    'an agent that went back to a version without volumes degrades them, and every copy stays',
    aVolume(),
    { nodes: { 1: node({ hasPool: false, isTooOld: true }), 2: node() } },
    ['Degraded agent_version', '1 primary current', '2 replica current', 'epoch 1', 'degraded'],
  ],
  [
    'missing content degrades the volume and is never created again',
    aVolume(),
    { reports: { 1: present({ state: 'failed', reason: 'content_missing' }) } },
    ['Degraded content_missing', '1 primary missing', '2 replica current', 'epoch 1', 'degraded'],
  ],
  [
    'a node that returns makes the volume ready',
    aVolume({ phase: 'Degraded', reason: 'node_failed' }),
    {},
    [...READY, 'ready'],
  ],
  [
    'an agent that has not checked its copy changes no phase',
    aVolume({ phase: 'Degraded', reason: 'node_failed', copies: [primaryOn(1, { state: 'missing' })] }),
    { reports: { 1: present({ state: 'pending' }) } },
    ['Degraded node_failed', '1 primary missing', 'epoch 1'],
  ],
  [
    'a removed node with the only copy loses the volume',
    ALONE,
    { nodes: {} },
    ['Lost no_copy_left', 'epoch 1', 'lost'],
  ],
  [
    'a removed node leaves a volume degraded if a replica is complete',
    aVolume(),
    { nodes: { 2: node() } },
    ['Degraded node_removed', '1 primary missing', '2 replica current', 'epoch 1', 'degraded'],
  ],
  [
    'a replica that was never complete does not save a volume and is deleted',
    aVolume({ copies: [primaryOn(1), replicaOn(2, seeding)] }),
    { nodes: { 2: node() } },
    ['Lost no_copy_left', '2 leaves', 'epoch 1', 'lost'],
  ],
  [
    'a failed node with the only copy loses nothing',
    ALONE,
    { nodes: { 1: FAILED } },
    ['Degraded node_failed', '1 primary missing', 'epoch 1', 'degraded'],
  ],
  [
    'a lost volume stays lost',
    aVolume({ phase: 'Lost', reason: 'no_copy_left', copies: [] }),
    {},
    ['Lost no_copy_left', 'epoch 1'],
  ],
  [
    'a replica of a removed node is placed elsewhere at once',
    aVolume(),
    { nodes: { 1: node(), 3: node() }, free: [3], reports: { 1: present() } },
    ['Ready under_replicated', '1 primary current', '3 replica seeding', 'epoch 1', 'replica_added'],
  ],
  [
    'a replica on a node that just failed stays',
    aVolume(),
    { nodes: { 1: node(), 2: FAILED, 3: node() }, free: [3] },
    ['Ready under_replicated', '1 primary current', '2 replica missing', 'epoch 1'],
  ],
  [
    'a replica on a node that failed 30 minutes ago is placed elsewhere',
    aVolume(),
    { nodes: { 1: node(), 2: FAILED_LONG, 3: node() }, free: [3] },
    [
      'Ready under_replicated',
      '1 primary current',
      '3 replica seeding',
      '2 leaves',
      'epoch 1',
      'replica_added',
      'replica_removed',
    ],
  ],
  [
    'a replica on a failed node stays if no other node fits',
    aVolume(),
    { nodes: { 1: node(), 2: FAILED_LONG } },
    ['Ready under_replicated', '1 primary current', '2 replica missing', 'epoch 1'],
  ],
  [
    'a replica on a drained node stays while its successor is seeded',
    aVolume(),
    { nodes: { 1: node(), 2: LEAVING, 3: node() }, free: [3] },
    [
      'Ready',
      '1 primary current',
      '3 replica seeding',
      '2 replica current evacuating',
      'epoch 1',
      'replica_added',
    ],
  ],
  [
    'a replica on a drained node leaves once its successor is current',
    aVolume({ copies: [primaryOn(1), replicaOn(3), replicaOn(2, { evacuating: true })] }),
    {
      nodes: { 1: node(), 2: node({ schedulable: false }), 3: node() },
      reports: { 1: present({ replicas: [{ nodeId: nodeIdOf(3), state: 'current' }] }) },
    },
    ['Ready', '1 primary current', '3 replica current', '2 leaves', 'epoch 1', 'replica_removed'],
  ],
  [
    'a replica on an uncordoned node stays, and its successor goes',
    aVolume({ copies: [primaryOn(1), replicaOn(2, { evacuating: true })] }),
    {},
    READY,
  ],
  [
    'a resize waits for every copy',
    RESIZING,
    { reports: { ...reportsOf('current', 2 * SIZE), 2: present() } },
    ['Resizing', '1 primary current', '2 replica current', 'epoch 1'],
  ],
  ['a resize ends with the last copy', RESIZING, { reports: reportsOf('current', 2 * SIZE) }, READY],
  [
    'a resize does not wait for a missing copy',
    RESIZING,
    { nodes: { 1: node(), 2: FAILED }, reports: { 1: present({ sizeBytes: 2 * SIZE }) } },
    ['Ready under_replicated', '1 primary current', '2 replica missing', 'epoch 1'],
  ],
  [
    'an ephemeral volume on a failed node is created again, empty',
    EPHEMERAL,
    { nodes: { 1: FAILED, 2: node() }, free: [2], mounted: true },
    ['Materializing', '2 primary seeding', '1 leaves', 'epoch 2', 'lost'],
  ],
  [
    'an ephemeral volume on a removed node is created again',
    EPHEMERAL,
    { nodes: { 2: node() }, free: [2] },
    ['Materializing', '2 primary seeding', '1 leaves', 'epoch 2', 'lost'],
  ],
  [
    'an ephemeral volume on an unreachable node waits',
    EPHEMERAL,
    { nodes: { 1: node({ status: 'unreachable' }) }, free: [2] },
    ['Ready primary_unreachable', '1 primary missing', 'epoch 1'],
  ],
  [
    'an ephemeral volume with an anchored secret waits',
    EPHEMERAL,
    { nodes: { 1: FAILED }, free: [2], anchored: true },
    ['Degraded node_failed', '1 primary missing', 'epoch 1', 'degraded'],
  ],
  [
    'an ephemeral volume on a drained node waits for its containers',
    EPHEMERAL,
    { nodes: { 1: LEAVING }, free: [2], mounted: true },
    ['Ready', '1 primary current', 'epoch 1'],
  ],
  [
    'an ephemeral volume on a drained node moves without its data',
    EPHEMERAL,
    { nodes: { 1: LEAVING, 2: node() }, free: [2] },
    ['Materializing', '2 primary seeding', '1 leaves', 'epoch 2', 'lost'],
  ],
  [
    'an ephemeral volume that fits nowhere else waits',
    EPHEMERAL,
    { nodes: { 1: FAILED } },
    ['Degraded node_failed', '1 primary missing', 'epoch 1', 'degraded'],
  ],
  [
    'a volume that was never provisioned moves without an event',
    { ...ALONE, phase: 'Materializing', provisioned: false },
    { nodes: { 1: FAILED, 2: node() }, reports: {}, free: [2] },
    ['Materializing', '2 primary seeding', '1 leaves', 'epoch 2'],
  ],
  [
    'a deleted volume waits for every agent',
    aVolume({ phase: 'Deleting', copies: [], leaving: leaves(1, 2) }),
    { reports: { 1: present(), 2: present({ state: 'removed' }) } },
    ['Deleting', '1 leaves', 'epoch 1'],
  ],
  [
    'a deleted volume ends with the last confirmation',
    aVolume({ phase: 'Deleting', copies: [], leaving: leaves(1, 2) }),
    { nodes: { 1: node() }, reports: { 1: present({ state: 'removed' }) } },
    ['deleted'],
  ],
  [
    'a removed copy is forgotten when its agent confirms it',
    aVolume({ leaving: leaves(3) }),
    {
      nodes: { 1: node(), 2: node(), 3: node() },
      reports: { ...reportsOf('current'), 3: present({ state: 'removed' }) },
    },
    READY,
  ],
  [
    'an object volume is on no node',
    aVolume({ spec: aSpec({ class: 'object', replicas: 0 }), primary: null, copies: [] }),
    { free: [1] },
    ['Ready'],
  ],
]

test.each(ROWS)('%s', (_about, volume, parts, expected) => {
  expect(outcome(volume, parts)).toEqual(expected)
})

test('a copy on a failed node is decided again when its grace ends', () => {
  const next = nextVolume(aVolume(), aSituation({ nodes: { 1: node(), 2: FAILED } }))
  expect(next).toMatchObject({ decideAgainAt: FAILED.statusSince + COPY_GRACE_MS })
})

test('a lost volume continues on the node that offers its last primary, and on no other', () => {
  const lost = aVolume({ phase: 'Lost', reason: 'no_copy_left', copies: [] })
  const nodes = { 3: node(), 4: node() }
  const next = (epoch: number, role: 'primary' | 'replica') => {
    const offers = [{ nodeId: nodeIdOf(3), epoch, role }]
    return nextVolume(lost, aSituation({ nodes, reports: {}, offers }))
  }
  for (const stays of [next(2, 'primary'), next(0, 'primary'), next(1, 'replica')])
    expect(stays).toMatchObject({ kind: 'keep', volume: { phase: 'Lost', copies: [] }, occurrences: [] })
  const found = next(1, 'primary')
  expect(found).toMatchObject({
    volume: {
      phase: 'Degraded',
      primary: { nodeId: nodeIdOf(3), epoch: 1 },
      copies: [{ nodeId: nodeIdOf(3), role: 'primary' }],
    },
    occurrences: [],
  })
  if (found.kind !== 'keep') throw new Error('deleted')
  const settled = nextVolume(found.volume, aSituation({ nodes, reports: { 3: present() }, free: [4] }))
  expect(settled).toMatchObject({
    volume: { phase: 'Ready', reason: 'under_replicated' },
    occurrences: [{ kind: 'replica_added' }, { kind: 'ready' }],
  })
})
