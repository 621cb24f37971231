// How often a node is asked for promises that it never gave.

import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { timingsFor } from '@holdfast/core/promotion/timings'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createPromiseTable } from './promise-table.ts'
import { createRenewer } from './renew-promises.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const A = asNodeId('node_01JCPZ0000000000000000000A')
const B = asNodeId('node_01JCPZ0000000000000000000B')
const timings = timingsFor(12_000)
const log = pino({ level: 'silent' })
const COPY: DesiredCopy = {
  volume: VOLUME,
  epoch: 1,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: false,
  peers: [B],
  cv: 1,
  promotable: [],
}

/** A primary whose only copy never answers. */
function startSilent() {
  const state = { nowMs: 0, asked: 0, isCurrent: false }
  const file = { boot: 1, saved: new Map(), isForgetful: false, isWritten: () => true, write: async () => {} }
  const self = () => ({ node: A, start: 1, boot: 1, nowMs: state.nowMs, timings })
  const table = createPromiseTable({ file, self, log })
  table.follow(new Map([[VOLUME, COPY]]), true)
  const renewer = createRenewer({
    table,
    links: {
      async renew() {
        state.asked += 1
        throw new Error('no answer')
      },
      keepOnly() {},
      close() {},
    },
    leases: { saved: new Map(), write() {}, settled: async () => {} },
    peers: () => [{ nodeId: B, address: '', publicKeys: [] }],
    live: { liveEpoch: () => 1, isReleased: () => false },
    boot: 1,
    nowMs: () => state.nowMs,
    current: () => (state.isCurrent ? { number: 1, nodes: [B] } : undefined),
    onAcked() {},
    timings,
    log,
  })
  const askedAt = async (nowMs: number): Promise<number> => {
    state.nowMs = nowMs
    renewer.renew()
    await renewer.settled()
    return state.asked
  }
  return { state, askedAt }
}

test('a node that never answered is asked once in a lease', async () => {
  const { askedAt } = startSilent()
  expect([await askedAt(0), await askedAt(2_000), await askedAt(11_999)]).toEqual([1, 1, 1])
  expect(await askedAt(12_000)).toBe(2)
})

test('a node that has become current is asked at once, because it waits for nothing else', async () => {
  const { state, askedAt } = startSilent()
  await askedAt(0)
  state.isCurrent = true
  expect([await askedAt(2_000), await askedAt(4_000)]).toEqual([2, 2])
  state.isCurrent = false
  await askedAt(6_000)
  state.isCurrent = true
  expect(await askedAt(8_000)).toBe(3)
})
