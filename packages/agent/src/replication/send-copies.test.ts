// The delays before a checkpoint is sent again. A machine that was away gets one as soon as it answers, and a replica that
// answers and cannot store one is asked more and more rarely.

import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { PeerError, type PeerFault } from '../peer/peer-error.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import { createReplicaTable } from './replica-table.ts'
import { createCopySender } from './send-copies.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const B = asNodeId('node_01JCPZ0000000000000000000B')
const PEER = { nodeId: B, address: '127.0.0.1:9', publicKeys: [] }
const ROUND_MS = 5_000
const HELD = [{ epoch: 1, number: 3 }]

function world() {
  const state: { nowMs: number; fault?: PeerFault; refusal?: string; sent: number } = { nowMs: 0, sent: 0 }
  const monotonicMs = () => state.nowMs
  const table = createReplicaTable(monotonicMs, ROUND_MS)
  const confirm = () => table.acknowledge(table.of(VOLUME, B), HELD, undefined)
  confirm()
  const copy: DesiredCopy = {
    volume: VOLUME,
    epoch: 1,
    role: 'primary',
    sizeBytes: 1,
    desired: 'present',
    mayCreate: false,
    peers: [B],
  }
  const facts = { epoch: 1, generation: 1, own: [] }
  const sender = createCopySender({
    requests: {
      async copy() {
        state.sent += 1
        if (state.fault !== undefined) throw new PeerError(state.fault, 'in the test')
        if (state.refusal !== undefined) return { kind: 'refused', reason: state.refusal }
        return { kind: 'stored' }
      },
    },
    table,
    pool: () => ({}) as unknown as VolumePool,
    volumes: () => [{ volume: VOLUME, copy, targets: [B], facts }],
    whole: () => new Map([[VOLUME, { epoch: 1, number: 4 }]]),
    takenAt: () => undefined,
    onCopied() {},
    monotonicMs,
    log: pino({ level: 'silent' }),
  })
  /** The number of attempts so far, after one more round at this time. */
  const roundAt = async (nowMs: number): Promise<number> => {
    state.nowMs = nowMs
    sender.start(PEER)
    await sender.settled()
    return state.sent
  }
  return { state, confirm, roundAt }
}

test('a machine that was away gets a checkpoint as soon as it answers', async () => {
  const { state, confirm, roundAt } = world()
  state.fault = 'unreachable'
  for (let nowMs = 0; nowMs <= 35_000; nowMs += ROUND_MS) await roundAt(nowMs)
  const before = state.sent
  delete state.fault
  state.nowMs = 36_000
  confirm()
  expect(await roundAt(36_000)).toBe(before + 1)
})

test('a replica that cannot be reached is not asked to store anything until it answers', async () => {
  const { state, roundAt } = world()
  state.fault = 'unreachable'
  expect([await roundAt(0), await roundAt(5_000), await roundAt(20_000)]).toEqual([1, 1, 1])
})

describe('a replica that answers and stores nothing', () => {
  /** The number of attempts after each of eight rounds. */
  async function attemptsIn({ confirm, roundAt }: ReturnType<typeof world>): Promise<number[]> {
    const attempts: number[] = []
    for (let nowMs = 0; nowMs <= 35_000; nowMs += ROUND_MS) {
      confirm()
      attempts.push(await roundAt(nowMs))
    }
    return attempts
  }

  test('is sent checkpoints after growing delays', async () => {
    const here = world()
    here.state.fault = 'cut'
    expect(await attemptsIn(here)).toEqual([1, 2, 2, 3, 3, 3, 3, 4])
  })

  test.each(['failed', 'corrupt', 'no_room', 'old_epoch'])(
    'is sent checkpoints after growing delays if it answers %s',
    async (refusal) => {
      const here = world()
      here.state.refusal = refusal
      expect(await attemptsIn(here)).toEqual([1, 2, 2, 3, 3, 3, 3, 4])
    },
  )

  test.each(['no_copy', 'not_replica', 'not_primary', 'unknown_epoch', 'unknown_base'])(
    'is asked in every round while its desired state is older: %s',
    async (refusal) => {
      const here = world()
      here.state.refusal = refusal
      expect(await attemptsIn(here)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    },
  )
})
