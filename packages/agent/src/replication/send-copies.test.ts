// The delays before a checkpoint is sent again. A machine that was away gets one as soon as it answers, and a replica that
// answers and cannot store one is asked more and more rarely.

import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import pino from 'pino'
import { expect, test } from 'vitest'
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
  const state: { nowMs: number; fault: PeerFault | undefined; sent: number } = {
    nowMs: 0,
    fault: undefined,
    sent: 0,
  }
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
  state.fault = undefined
  state.nowMs = 36_000
  confirm()
  expect(await roundAt(36_000)).toBe(before + 1)
})

test('a replica that cannot be reached is not asked to store anything until it answers', async () => {
  const { state, roundAt } = world()
  state.fault = 'unreachable'
  expect([await roundAt(0), await roundAt(5_000), await roundAt(20_000)]).toEqual([1, 1, 1])
})

test('a replica that answers and stores nothing is sent checkpoints after growing delays', async () => {
  const { state, confirm, roundAt } = world()
  state.fault = 'cut'
  const attempts: number[] = []
  for (let nowMs = 0; nowMs <= 35_000; nowMs += ROUND_MS) {
    confirm()
    attempts.push(await roundAt(nowMs))
  }
  expect(attempts).toEqual([1, 2, 2, 3, 3, 3, 3, 4])
})
