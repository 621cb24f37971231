// For tests of the invariants: changes of a small simulated cluster that break an invariant of volumes.

import type { NodeId, VolumeId } from '@holdfast/contract'
import type { StoredVolume, StoredVolumeWriter } from '@holdfast/server/store/records'
import type { SimulatedCopy } from '../../cluster/snapshot.ts'
import { createWriteLog, emptyContent } from '../../volumes/written.ts'
import { asked, type Change, first, node, placed, second } from '../changes.fixture.ts'
import { aStoredNode, FOREIGN, N1, N2, OWN, OWNER, R1, R2, withMachine, written } from '../world.fixture.ts'

const V = 'vol_1' as VolumeId
const TIME = '1970-01-01T00:00:00.000Z'
const SIZE = 1000

const copyOn = (nodeId: NodeId, role: 'primary' | 'replica' = 'primary') => ({
  ...{ nodeId, role, state: 'current' as const, seeded: true },
})

const aVolume = (changes: Partial<StoredVolume> = {}): StoredVolume => ({
  v: 1,
  id: V,
  spec: { name: 'data', class: 'replicated', sizeBytes: SIZE, replicas: 0 },
  phase: 'Ready',
  reason: null,
  primary: { nodeId: N1, epoch: 1, since: TIME },
  copies: [copyOn(N1)],
  provisioned: true,
  revision: 1,
  createdAt: TIME,
  slot: 0,
  ...changes,
})

const volume =
  (changes: Partial<StoredVolume> = {}): Change =>
  (world) =>
    written(world, 'volumes', OWN, V, aVolume(changes))

/** The first two nodes with pools, so that copies may be on them. */
const pools: Change = (world) =>
  [N1, N2].reduce(
    (next, id) =>
      withMachine(
        written(
          next,
          'nodes',
          OWN,
          id,
          aStoredNode(id, { storage: { poolBytes: 9_000, usedBytes: 0 }, agent }),
        ),
        id,
        () => ({ poolBytes: 9_000 }),
      ),
    world,
  )
const agent = { version: '1', capabilities: ['volumes', 'mounts'] }

const primaryIn = (epoch: number, nodeId: NodeId = N1) => ({ primary: { nodeId, epoch, since: TIME } })
const ephemeral = { spec: { name: 'data', class: 'ephemeral' as const, sizeBytes: SIZE, replicas: 0 } }

const writer =
  (nodeId: NodeId, ...ids: (typeof R1)[]): Change =>
  (world) =>
    withMachine(world, nodeId, () => ({
      containers: ids.map((assignmentId) => ({
        ...{
          id: assignmentId,
          assignmentId,
          owner: OWNER,
          templateHash: 'hash',
          state: 'ready',
          startedAt: 0,
          writes: [V],
        },
      })),
    }))

const claim =
  (changes: Partial<StoredVolumeWriter> = {}): Change =>
  (world) =>
    written(world, 'volumeWriters', OWN, V, {
      ...{ v: 1, volume: V, owner: OWNER, name: 'web', assignmentId: R1, epoch: 1, state: 'bound' },
      ...changes,
    })

const held = (nodeId: NodeId, copy: Partial<SimulatedCopy>): Change => {
  return (world) =>
    withMachine(world, nodeId, () => ({
      copies: [{ volume: V, live: undefined, checkpoints: [], quarantined: [], promise: undefined, ...copy }],
    }))
}

const created = emptyContent(1)
const log = createWriteLog()
const at1 = { epoch: 1, on: N1, time: { atMs: 0, boot: 1, clockMs: 0 } }
const firstWrite = log.write(V, R1, at1, created)
const live = (content = firstWrite) => ({ live: { content, epoch: 1, isMade: true } })
const wrote: Change = (world) => ({ ...world, writes: log })
const mixed: Change = (world) => {
  const other = createWriteLog()
  other.write(V, R1, at1, created)
  other.write(V, R2, at1, created)
  return { ...world, writes: other }
}
const handedOver = {
  ...{ ...primaryIn(2, N2), from: { epoch: 1, number: 4 }, handover: null },
  copies: [copyOn(N2), copyOn(N1, 'replica')],
}
const handingOver = { handover: { to: N2, since: TIME }, copies: [copyOn(N1), copyOn(N2, 'replica')] }
const mounted = asked({
  replicas: 2,
  volumes: [{ volume: V, target: '/data', type: 'volume', readOnly: true }],
})

const lateWrite = log.write(V, R1, { ...at1, time: { atMs: 0, boot: 1, clockMs: 9_000 } }, firstWrite)
const checkpoint = (number: number, content = firstWrite) => ({
  ...{ epoch: 1, number, content, takenAt: { boot: 1, ms: 4_000 } },
})
const promotable = {
  ...{ copies: [copyOn(N1), copyOn(N2, 'replica')], promotable: [N2], cv: 1 },
}
const promotion = {
  ...{ at: TIME, fromEpoch: 1, toEpoch: 2, from: N1, to: N2, cause: 'primary_silent' as const },
  ...{ checkpoint: 4, lossMs: 6_000 },
}
const promoted = (changes: Partial<typeof promotion> = {}) => ({
  ...{ ...handedOver, promotable: [], cv: 2, promotions: [{ ...promotion, ...changes }] },
})
const voted = (cv: number, prepared = true) => ({
  promise: { role: 'copy' as const, epoch: 1, cv, prepared },
})
/** The primary of the first epoch, which needs the promises of these nodes. */
const needing = (...configured: readonly NodeId[]) => ({
  ...{ role: 'primary' as const, copies: [N2], epoch: 1, cv: 1, configured, asked: [], unsent: [] },
  isConfirmed: true,
})
/** A primary with a write that its promotable copy lacks. */
const replicated: readonly Change[] = [
  ...[pools, volume(promotable), wrote],
  ...[held(N1, live(lateWrite)), held(N2, { checkpoints: [checkpoint(4)] })],
]
const acked: Change = (world) => {
  const known = createWriteLog()
  known.acknowledge(V, N2, checkpoint(5, lateWrite))
  return { ...world, writes: { ...log, acknowledged: known.acknowledged } }
}
const secondVolume: Change = (world) =>
  written(world, 'volumes', OWN, 'vol_2', aVolume({ id: 'vol_2' as VolumeId, ...promotable }))
const writesBoth = asked({
  replicas: 1,
  volumes: [V, 'vol_2' as VolumeId].map((each) => ({
    ...{ volume: each, target: `/${each}`, type: 'volume' as const, readOnly: false },
  })),
})

export const VOLUME_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  ['writer-claims', 'a writer without a claim', [volume(), writer(N1, R1)]],
  [
    'writer-claims',
    'a writer that the claim does not name',
    [volume(), claim({ assignmentId: R2 }), writer(N1, R1)],
  ],
  [
    'writer-claims',
    'a claim that changes its owner',
    [claim(), claim({ owner: 'deployment/dep_2' as typeof OWNER })],
  ],
  ['one-writer', 'two writers of a replicated volume', [volume(), writer(N1, R1), writer(N2, R2)]],
  ['one-writer', 'two writers of an ephemeral volume on one node', [volume(ephemeral), writer(N1, R1, R2)]],
  [
    'one-writer',
    'an ephemeral volume created again beside its writer',
    [volume(ephemeral), writer(N1, R1), volume({ ...ephemeral, ...primaryIn(2, N2), copies: [copyOn(N2)] })],
  ],
  ['at-primary', 'a reader beside another node’s primary', [mounted, volume(), placed(first, second)]],
  [
    'copies-allowed',
    'a copy on a node of another tenant',
    [volume({ copies: [copyOn(N1), copyOn(FOREIGN, 'replica')] })],
  ],
  [
    'copies-allowed',
    'two copies on one node',
    [pools, volume({ copies: [copyOn(N1), copyOn(N1, 'replica')] })],
  ],
  [
    'copies-allowed',
    'a copy on a node that still deletes one',
    [pools, volume({ leaving: [{ nodeId: N1, since: TIME }] })],
  ],
  ['copies-allowed', 'a copy on a drained node', [pools, node({ schedulable: false }), volume(handingOver)]],
  [
    'copies-allowed',
    'a copy in a forbidden country',
    [pools, volume({ spec: { ...aVolume().spec, residency: { country: 'FR' } } })],
  ],
  [
    'copies-allowed',
    'a handover to a lagging copy',
    [
      pools,
      volume({ copies: [copyOn(N1), { ...copyOn(N2, 'replica'), state: 'lagging' }] }),
      volume({ ...handingOver, copies: [copyOn(N1), { ...copyOn(N2, 'replica'), state: 'lagging' }] }),
    ],
  ],
  [
    'drained-stays',
    'a primary that moves to a drained node',
    [
      ...[volume(handingOver), node({ schedulable: false, draining: true }), node({ schedulable: false })],
      volume(handedOver),
    ],
  ],
  ['volume-epochs', 'an epoch that falls', [volume(primaryIn(2)), volume(primaryIn(1))]],
  [
    'volume-epochs',
    'another primary in the same epoch',
    [volume(), volume({ ...primaryIn(1, N2), copies: [copyOn(N2)] })],
  ],
  ['volume-epochs', 'a canceled handover in the same epoch', [volume(handingOver), volume()]],
  ['volume-epochs', 'data that moves without a handover', [volume(), volume(handedOver)]],
  [
    'pool-bytes',
    'more copies than the pool has room for',
    [pools, volume({ spec: { ...aVolume().spec, sizeBytes: 4_500 } })],
  ],
  [
    'pool-bytes',
    'a copy beside one that is being deleted',
    [
      pools,
      volume({ spec: { ...aVolume().spec, sizeBytes: 4_000 } }),
      volume({ copies: [], leaving: [{ nodeId: N1, since: TIME }] }),
      (world) => written(world, 'volumes', OWN, 'vol_2', aVolume({ id: 'vol_2' as VolumeId })),
    ],
  ],
  ['volume-content', 'a primary without the last write', [volume(), held(N1, live(created)), wrote]],
  ['volume-content', 'a write where another one is missing', [volume(), held(N1, live()), mixed]],
  [
    'volume-content',
    'a handover to a copy without the last checkpoint',
    [held(N1, live()), volume(handingOver), wrote, volume(handedOver)],
  ],
  [
    'volume-content',
    'a promotable copy without a checkpoint of the epoch',
    [...replicated, held(N2, { checkpoints: [{ ...checkpoint(4), epoch: 0 }] })],
  ],
  [
    'volume-epochs',
    'a new epoch with promotable nodes',
    [volume(promotable), volume({ ...promoted(), promotable: [N1] })],
  ],
  [
    'volume-epochs',
    'promotable nodes in an old version',
    [volume(promotable), volume({ ...promotable, promotable: [] })],
  ],
  [
    'acknowledged-kept',
    'a promotion from before a checkpoint that every copy acknowledged',
    [...replicated, acked, volume({ ...promotable, reason: 'again' }), volume(promoted())],
  ],
  [
    'group-together',
    'a promotion of one of two volumes',
    [...replicated, secondVolume, writesBoth, volume({ ...promotable, reason: 'again' }), volume(promoted())],
  ],
  ['loss-stated', 'a loss that is larger', [...replicated, volume(promoted({ lossMs: 4_999 }))]],
  [
    'loss-stated',
    'a promotion of a node that is not promotable',
    [...replicated, volume({ ...promotable, promotable: [], cv: 1 }), volume(promoted())],
  ],
  [
    'vote-stands',
    'a promotion by the vote of an earlier version',
    [...replicated, held(N2, { ...voted(0), checkpoints: [checkpoint(4)] }), volume(promoted())],
  ],
  [
    'vote-stands',
    'a promotion without a vote',
    [...replicated, held(N2, { ...voted(1, false), checkpoints: [checkpoint(4)] }), volume(promoted())],
  ],
  [
    'promises-needed',
    'a promotable node whose promise the primary does not need',
    [...replicated, held(N1, { ...live(lateWrite), promise: needing() })],
  ],
  [
    'divergence-kept',
    'data of the old primary that is deleted',
    [...replicated, volume(promoted()), held(N1, { checkpoints: [checkpoint(4)] })],
  ],
  ['data-kept', 'a deleted copy that the record lists', [volume(), held(N1, live()), held(N1, {})]],
  [
    'data-kept',
    'a record that goes before its data',
    [volume(), held(N1, live()), (world) => written(world, 'volumes', OWN, V)],
  ],
  ['volumes-settled', 'a volume that is not ready', [volume({ phase: 'Materializing' })]],
  ['volumes-settled', 'a volume that fits', [pools, volume({ phase: 'Pending', primary: null, copies: [] })]],
  [
    'volumes-settled',
    'a replica that stays behind',
    [volume({ copies: [{ ...copyOn(N1), state: 'seeding' }] })],
  ],
  [
    'volumes-settled',
    'too few replicas, with a place',
    [pools, volume({ spec: { ...aVolume().spec, replicas: 1 } })],
  ],
  ['volumes-settled', 'a copy that is not deleted', [volume({ leaving: [{ nodeId: N2, since: TIME }] })]],
  ['volumes-settled', 'a handover without an end', [volume(handingOver)]],
]
