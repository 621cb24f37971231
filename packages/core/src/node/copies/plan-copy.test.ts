// Tests the plan of one copy: what is created, restored, resized and removed, and what is never touched.

import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  type CopyAction,
  type CopyFacts,
  type CopyNote,
  copyWithFault,
  type FoundCopy,
  isMountable,
  isSameReport,
  planCopy,
} from './plan-copy.ts'

const SIZE = 100
const LIMIT = 200
const VOLUME = asVolumeId('vol_1')
const OTHER = asNodeId('node_2')

const copy = (over: Partial<DesiredCopy> = {}): DesiredCopy => ({
  volume: VOLUME,
  epoch: 1,
  role: 'primary',
  sizeBytes: SIZE,
  desired: 'present',
  mayCreate: true,
  peers: [],
  ...over,
})
const mounted = { limitBytes: LIMIT, mountPoint: '/mnt' }
const made = (epoch: number): CopyNote => ({ epoch, content: { epoch, isMade: true } })
const making = (epoch: number): CopyNote => ({ epoch, content: { epoch, isMade: false } })
const RELEASED = { to: OTHER, checkpoint: { epoch: 1, number: 7 } }
const FROM = { epoch: 2, number: 9 }
const found = (over: Partial<FoundCopy> = {}): FoundCopy => ({
  live: undefined,
  checkpoints: [],
  note: undefined,
  ...over,
})

function describeAction(action: CopyAction): string {
  if (action.kind === 'provision') return `provision ${action.limitBytes}`
  if (action.kind === 'restore') return `restore ${action.from.epoch}.${action.from.number}`
  if (action.kind === 'quarantine') return `quarantine ${action.epoch}`
  if (action.kind !== 'note') return action.kind
  const { epoch, content, released, isRemoved } = action.note
  const state = content && `${content.isMade ? 'made' : 'making'} ${content.epoch}`
  return ['note', epoch, state, released && 'released', isRemoved && 'removed'].filter(Boolean).join(' ')
}

const CALM: CopyFacts = { isConfirmed: true, hasRoom: true }
function plan(desired: DesiredCopy, pool: Partial<FoundCopy & CopyFacts>): string[] {
  const planned = planCopy(desired, found(pool), { ...CALM, ...pool })
  if (planned === undefined) return ['ignored']
  const { state, reason, sizeBytes } = planned.observed
  return [...planned.actions.map(describeAction), [state, reason, sizeBytes].filter(Boolean).join(' ')]
}

const CREATION = ['note 1 making 1', 'provision 200', 'note 1 made 1', 'pending']
const REMOVAL = ['remove', 'note 1 removed']

type Row = readonly [string, Partial<DesiredCopy>, Partial<FoundCopy & CopyFacts>, string[]]

describe('a primary', () => {
  const rows: readonly Row[] = [
    ['new', {}, {}, CREATION],
    ['new, killed before the subvolume existed', {}, { note: making(1) }, CREATION],
    [
      'new, killed before the limit',
      {},
      { note: making(1), live: { limitBytes: undefined, mountPoint: undefined } },
      ['provision 200', 'note 1 made 1', 'pending'],
    ],
    [
      'new, killed before the last note',
      {},
      { note: making(1), live: mounted },
      ['note 1 made 1', 'pending 100'],
    ],
    ['as desired', {}, { note: made(1), live: mounted }, ['present 100']],
    ['of a pool without notes', {}, { live: mounted }, ['note 1 made 1', 'pending 100']],
    [
      'after a boot',
      {},
      { note: made(1), live: { ...mounted, mountPoint: undefined } },
      ['provision 200', 'pending 100'],
    ],
    [
      'that a fence keeps unmounted',
      {},
      { note: made(1), live: { ...mounted, mountPoint: undefined }, isFenced: true },
      ['present 100'],
    ],
    [
      'with another size',
      { sizeBytes: 50 },
      { note: made(1), live: mounted },
      ['provision 100', 'pending 100'],
    ],
    ['in the next epoch', { epoch: 2 }, { note: made(1), live: mounted }, ['note 2 made 2', 'pending 100']],
    ['that is lost', {}, { note: made(1) }, ['failed content_missing']],
    ['that the server has seen and the pool lacks', { mayCreate: false }, {}, ['failed content_missing']],
    [
      'lost, which may be created in the next epoch',
      { epoch: 2 },
      { note: made(1) },
      ['note 2 making 2', 'provision 200', 'note 2 made 2', 'pending'],
    ],
    ['of an outdated epoch', { epoch: 1 }, { note: made(2), live: mounted }, ['ignored']],
    ['new, in a full pool', {}, { hasRoom: false }, ['failed no_room']],
    [
      'larger, in a full pool',
      { sizeBytes: 150 },
      { note: made(1), live: mounted, hasRoom: false },
      ['provision 300', 'pending 100'],
    ],
    ['new, from the disk only', {}, { isConfirmed: false }, ['pending']],
    [
      'after a boot, from the disk only',
      {},
      { note: made(1), live: { ...mounted, mountPoint: undefined }, isConfirmed: false },
      ['provision 200', 'pending 100'],
    ],
    ['removed before, desired again', {}, { note: { epoch: 1, isRemoved: true } }, CREATION],
  ]
  test.each(rows)('%s', (_name, desired, pool, expected) => {
    expect(plan(copy(desired), pool)).toEqual(expected)
  })
})

describe('a primary that was a replica', () => {
  const desired: Partial<DesiredCopy> = { epoch: 3, from: FROM, mayCreate: false }
  const restore = ['note 3 making 3', 'restore 2.9', 'provision 200', 'note 3 made 3', 'pending']
  const rows: readonly Row[] = [
    ['with the checkpoint', desired, { checkpoints: [FROM], note: { epoch: 2 } }, restore],
    [
      'without the checkpoint',
      desired,
      { checkpoints: [{ epoch: 2, number: 8 }] },
      ['failed content_missing'],
    ],
    ['killed before the snapshot', desired, { checkpoints: [FROM], note: making(3) }, restore],
    [
      'killed after the snapshot',
      desired,
      { checkpoints: [FROM], note: making(3), live: { limitBytes: LIMIT, mountPoint: undefined } },
      ['provision 200', 'note 3 made 3', 'pending 100'],
    ],
    [
      'whose data was lost after it was restored',
      desired,
      { checkpoints: [FROM], note: made(3) },
      ['failed content_missing'],
    ],
    [
      'and primary before that, handed over',
      desired,
      { checkpoints: [FROM], live: mounted, note: { ...made(1), epoch: 2, released: RELEASED } },
      ['retire', ...restore.slice(0, -1), 'pending 100'],
    ],
    [
      'and primary before that, killed after the old data was deleted',
      desired,
      { checkpoints: [FROM], note: { ...made(1), epoch: 2, released: RELEASED } },
      restore,
    ],
    [
      'and primary before that, without the new checkpoint',
      desired,
      { checkpoints: [], live: mounted, note: { ...made(1), released: RELEASED } },
      ['failed content_missing 100'],
    ],
    [
      'and primary before that, not handed over',
      desired,
      { checkpoints: [FROM], live: mounted, note: made(1) },
      ['quarantine 1', ...restore.slice(0, -1), 'pending 100'],
    ],
    [
      'and primary before that, not handed over, without the new checkpoint',
      desired,
      { live: mounted, note: made(1) },
      ['failed content_missing 100'],
    ],
    [
      'and primary before that, not handed over, from the disk only',
      desired,
      { checkpoints: [FROM], live: mounted, note: made(1), isConfirmed: false },
      ['pending 100'],
    ],
    ['from the disk only', desired, { checkpoints: [FROM], isConfirmed: false }, ['pending']],
  ]
  test.each(rows)('%s', (_name, desiredOver, pool, expected) => {
    expect(plan(copy(desiredOver), pool)).toEqual(expected)
  })
})

describe('a replica', () => {
  const desired: Partial<DesiredCopy> = { role: 'replica', epoch: 2 }
  const rows: readonly Row[] = [
    ['new', desired, {}, ['note 2', 'pending no_checkpoint']],
    ['without a checkpoint', desired, { note: { epoch: 2 } }, ['pending no_checkpoint']],
    ['with one', desired, { note: { epoch: 2 }, checkpoints: [FROM] }, ['present 100']],
    [
      'that was the primary and handed over',
      desired,
      { note: { ...made(1), released: RELEASED }, live: mounted, checkpoints: [FROM] },
      ['retire', 'note 2', 'present 100'],
    ],
    [
      'that was the primary and did not hand over',
      desired,
      { note: made(1), live: mounted },
      ['quarantine 1', 'note 2', 'pending no_checkpoint'],
    ],
    [
      'that was the primary and did not hand over, from the disk only',
      desired,
      { note: made(1), live: mounted, isConfirmed: false },
      ['note 2 made 1', 'pending no_checkpoint'],
    ],
    [
      'whose earlier data was put into quarantine, killed before the note',
      desired,
      { note: made(1), isQuarantined: true },
      ['note 2', 'pending no_checkpoint'],
    ],
    ['of an outdated epoch', desired, { note: { epoch: 3 } }, ['ignored']],
  ]
  test.each(rows)('%s', (_name, desiredOver, pool, expected) => {
    expect(plan(copy(desiredOver), pool)).toEqual(expected)
  })
})

describe('a copy to remove', () => {
  const rows: readonly Row[] = [
    ['with data', {}, { live: mounted, note: made(1) }, [...REMOVAL, 'pending 100']],
    ['with a checkpoint', {}, { checkpoints: [FROM] }, [...REMOVAL, 'pending']],
    ['of which nothing is listed', {}, { note: made(1) }, [...REMOVAL, 'pending']],
    ['that is gone', {}, { note: { epoch: 1, isRemoved: true } }, ['removed']],
    [
      'that is gone but for quarantined data',
      {},
      { note: { epoch: 1, isRemoved: true }, isQuarantined: true },
      [...REMOVAL, 'pending'],
    ],
    ['that is back', {}, { note: { epoch: 1, isRemoved: true }, live: mounted }, [...REMOVAL, 'pending 100']],
    ['of an outdated epoch', {}, { live: mounted, note: made(2) }, ['ignored']],
    ['from the disk only', {}, { live: mounted, note: made(1), isConfirmed: false }, ['pending 100']],
  ]
  test.each(rows)('%s', (_name, desired, pool, expected) => {
    expect(plan(copy({ ...desired, desired: 'removed' }), pool)).toEqual(expected)
  })
})

describe('containers may mount', () => {
  const ready = found({ live: mounted, note: made(1) })
  test.each<readonly [string, Partial<DesiredCopy>, FoundCopy, boolean]>([
    ['a primary that is as desired', {}, ready, true],
    ['a primary that gets another size', { sizeBytes: 7 }, ready, true],
    ['no replica', { role: 'replica' }, ready, false],
    ['no copy to remove', { desired: 'removed' }, ready, false],
    ['no copy that is handed over', { handOverTo: OTHER }, ready, false],
    [
      'no copy that was released',
      {},
      found({ live: mounted, note: { ...made(1), released: RELEASED } }),
      false,
    ],
    ['no copy of an earlier epoch', { epoch: 2 }, ready, false],
    [
      'no copy without a mount',
      {},
      found({ live: { ...mounted, mountPoint: undefined }, note: made(1) }),
      false,
    ],
    [
      'no copy without a limit',
      {},
      found({ live: { ...mounted, limitBytes: undefined }, note: made(1) }),
      false,
    ],
    ['no copy that is not complete', {}, found({ live: mounted, note: making(1) }), false],
  ])('%s', (_name, desired, pool, expected) => {
    expect(isMountable(copy(desired), pool)).toBe(expected)
  })
})

test('reports a release until the next epoch', () => {
  const pool = found({ live: mounted, note: { ...made(1), released: RELEASED } })
  expect(planCopy(copy({ handOverTo: OTHER }), pool, CALM)?.observed).toMatchObject({ released: RELEASED })
  expect(planCopy(copy({ epoch: 2 }), pool, CALM)?.observed).not.toHaveProperty('released')
})

test('keeps what newer agents noted', () => {
  const note = { ...making(1), later: 'kept' }
  const actions = planCopy(copy(), found({ live: mounted, note }), CALM)?.actions
  expect(actions).toEqual([{ kind: 'note', note: { ...made(1), later: 'kept' } }])
})

test('keeps the size and checkpoint of a copy whose pool has a fault', () => {
  const replica = copy({ role: 'replica', epoch: 2 })
  const observed = planCopy(replica, found({ note: { epoch: 2 }, checkpoints: [FROM] }), CALM)?.observed
  expect(copyWithFault(replica, 'pool_missing', observed)).toEqual({
    volume: VOLUME,
    epoch: 2,
    state: 'failed',
    sizeBytes: SIZE,
    reason: 'pool_missing',
    checkpoint: FROM,
  })
})

test('reports a replica again for a new epoch of its checkpoint, not for a new number', () => {
  const observed = { volume: VOLUME, epoch: 2, state: 'present', sizeBytes: 1, reason: '' } as const
  const at = (epoch: number, number: number) => ({ ...observed, checkpoint: { epoch, number } })
  expect(isSameReport(at(2, 1), at(2, 2))).toBe(true)
  expect(isSameReport(at(2, 1), at(3, 1))).toBe(false)
  expect(isSameReport(observed, at(2, 1))).toBe(false)
  expect(isSameReport(undefined, observed)).toBe(false)
})
