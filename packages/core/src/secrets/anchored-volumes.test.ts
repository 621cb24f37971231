// The volumes that a rotation waits for: which answers of a primary are enough, and what the status says until then.

import { AGENT_CAPABILITIES, asNodeId, asVolumeId, type Measurement } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  type AnchoredVolume,
  nextCheckpoint,
  type RotationCheckpoint,
  volumeBlockers,
  volumesToAsk,
} from './anchored-volumes.ts'
import { turnRotation } from './rotation.ts'

const [PRIMARY, SECOND, THIRD] = [asNodeId('node_1'), asNodeId('node_2'), asNodeId('node_3')]
const agent = { version: '0.5.0', capabilities: AGENT_CAPABILITIES }
const ready = { nodeId: PRIMARY, name: 'n1', epoch: 2, status: 'ready', agent } as const

const volume = (parts: Partial<AnchoredVolume> = {}): AnchoredVolume => ({
  id: asVolumeId('vol_1'),
  name: 'data',
  primary: ready,
  promotable: [{ nodeId: SECOND, name: 'n2' }],
  ...parts,
})
const taken = (parts: Partial<RotationCheckpoint> = {}): RotationCheckpoint => ({
  volume: asVolumeId('vol_1'),
  epoch: 2,
  number: 7,
  acknowledged: [],
  ...parts,
})
const both = [
  { nodeId: SECOND, name: 'n2' },
  { nodeId: THIRD, name: 'n3' },
]

test.each<[string, Partial<AnchoredVolume>, readonly RotationCheckpoint[] | undefined, string[]]>([
  ['a volume without copies', { promotable: [] }, undefined, []],
  ['copies that all have the checkpoint', {}, [taken({ acknowledged: [SECOND] })], []],
  [
    'confirmed copies, even if the primary is gone',
    { primary: { ...ready, status: 'failed' } },
    [taken({ acknowledged: [SECOND] })],
    [],
  ],
  ['no checkpoint yet', {}, undefined, ['volume data needs a checkpoint of its primary on n1']],
  [
    'a checkpoint of another volume',
    {},
    [taken({ volume: asVolumeId('vol_2'), acknowledged: [SECOND] })],
    ['volume data needs a checkpoint of its primary on n1'],
  ],
  [
    'a checkpoint of an earlier primary',
    {},
    [taken({ epoch: 1, acknowledged: [SECOND] })],
    ['volume data needs a checkpoint of its primary on n1'],
  ],
  ['a copy without the checkpoint', {}, [taken()], ['volume data needs checkpoint 7 of n1 on n2']],
  [
    'one of two copies without the checkpoint',
    { promotable: both },
    [taken({ acknowledged: [SECOND] })],
    ['volume data needs checkpoint 7 of n1 on n3'],
  ],
  [
    'a primary that is unreachable',
    { primary: { ...ready, status: 'unreachable' } },
    undefined,
    ['volume data needs a checkpoint of its primary on n1; node n1 is unreachable'],
  ],
  [
    'a primary that is unreachable after the checkpoint',
    { primary: { ...ready, status: 'unreachable' }, promotable: both },
    [taken()],
    ['volume data needs checkpoint 7 of n1 on n2, n3; node n1 is unreachable'],
  ],
  [
    'a primary whose node was removed',
    { primary: { ...ready, status: undefined } },
    undefined,
    ['volume data needs a checkpoint of its primary on n1; node n1 was removed'],
  ],
  [
    'an agent that knows no checkpoints on request',
    { primary: { ...ready, agent: { version: '0.4.0', capabilities: ['volumes'] } } },
    undefined,
    [
      'volume data needs a checkpoint of its primary on n1; its agent 0.4.0 takes no checkpoints on request, so update the agent of n1',
    ],
  ],
  [
    'copies without a primary',
    { primary: null },
    undefined,
    ['volume data has no primary that could take a checkpoint'],
  ],
])('the end of a rotation with %s', (_what, parts, recorded, waits) => {
  const one = volume(parts)
  expect(volumeBlockers(one, recorded)).toEqual(waits)
  const asks = waits.length > 0 && one.primary?.status === 'ready' && one.primary.agent === agent
  expect(volumesToAsk([one], recorded)).toEqual(asks ? [one] : [])
  const rotation = { phase: 'cutover', old: 1, new: 2, ...(recorded && { checkpoints: recorded }) } as const
  const turn = turnRotation({ rotation, versions: [1, 2], consumers: [], volumes: [one] }, 'retire')
  expect(turn).toEqual(
    waits.length > 0
      ? { kind: 'refused', blockedBy: waits }
      : { kind: 'turned', rotation: undefined, destroyed: [1] },
  )
})

const at = (number: number, epoch = 2) => ({ epoch, number })
const held = (...replicas: NonNullable<Measurement['replicas']>) => replicas

describe('the answer of a primary', () => {
  test.each<
    [
      string,
      Pick<Measurement, 'checkpoint' | 'replicas'>,
      RotationCheckpoint[] | undefined,
      object | undefined,
    ]
  >([
    [
      'without a checkpoint proves nothing',
      { replicas: held({ nodeId: SECOND, checkpoint: at(9) }) },
      [],
      undefined,
    ],
    ['of another epoch proves nothing', { checkpoint: at(9, 1) }, undefined, undefined],
    ['names the checkpoint that copies need', { checkpoint: at(7) }, undefined, taken()],
    [
      'counts a copy that has exactly this checkpoint, as that of an idle volume',
      { checkpoint: at(7), replicas: held({ nodeId: SECOND, checkpoint: at(7) }) },
      undefined,
      taken({ acknowledged: [SECOND] }),
    ],
    [
      'counts a newer one',
      { replicas: held({ nodeId: SECOND, checkpoint: at(8) }) },
      [taken()],
      { acknowledged: [SECOND] },
    ],
    [
      'counts no older one',
      { replicas: held({ nodeId: SECOND, checkpoint: at(6) }) },
      [taken()],
      { acknowledged: [] },
    ],
    [
      'counts no higher number of an earlier epoch',
      { replicas: held({ nodeId: SECOND, checkpoint: at(99, 1) }) },
      [taken()],
      { acknowledged: [] },
    ],
    [
      'counts no copy that has nothing',
      { replicas: held({ nodeId: SECOND }) },
      [taken()],
      { acknowledged: [] },
    ],
    [
      'does not move the goal',
      { checkpoint: at(8), replicas: held({ nodeId: SECOND, checkpoint: at(7) }) },
      [taken()],
      taken({ acknowledged: [SECOND] }),
    ],
    [
      'keeps what copies acknowledged before',
      { replicas: held({ nodeId: SECOND }) },
      [taken({ acknowledged: [SECOND] })],
      taken({ acknowledged: [SECOND] }),
    ],
    [
      'records no node without a copy',
      { replicas: held({ nodeId: THIRD, checkpoint: at(7) }) },
      [taken()],
      { acknowledged: [] },
    ],
  ])('%s', (_what, answer, recorded, next) => {
    const found = nextCheckpoint(volume(), recorded, answer)
    if (next === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject(next)
  })
})

test('asks for checkpoints only after every consumer has the new version', () => {
  const consumer = { name: 'a', pin: 1, desired: 1, held: [1], proved: new Map(), leaving: false }
  const rotation = { phase: 'cutover', old: 1, new: 2 } as const
  const turn = turnRotation(
    { rotation, versions: [1, 2], consumers: [consumer], volumes: [volume()] },
    'retire',
  )
  expect(turn).toEqual({ kind: 'refused', blockedBy: ['a has not moved to version 2 yet'] })
})
