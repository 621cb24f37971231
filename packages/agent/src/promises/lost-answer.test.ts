// A primary that receives nothing: the server drops its silent copy, and the answer is lost. The copy can no longer be
// promoted, so the primary must continue once it learns what was committed, by whichever message arrives first.

import { asNodeId, asVolumeId, type ConfigureRequest, type DesiredCopy } from '@holdfast/contract'
import { shrinkGroup } from '@holdfast/core/promotion/controller'
import type { GroupRecord } from '@holdfast/core/promotion/group-record'
import { roleEndMs } from '@holdfast/core/promotion/node/follow-volume'
import { timingsFor } from '@holdfast/core/promotion/timings'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createServerRequests } from './ask-server.ts'
import { createPromiseTable } from './promise-table.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const A = asNodeId('node_01JCPZ0000000000000000000A')
const B = asNodeId('node_01JCPZ0000000000000000000B')
const timings = timingsFor(12_000)
const log = pino({ level: 'silent' })
const DESIRED: DesiredCopy = {
  volume: VOLUME,
  epoch: 1,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: false,
  peers: [B],
  cv: 3,
  promotable: [B],
}

function startPrimary() {
  const clock = { nowMs: 0 }
  const file = { boot: 1, saved: new Map(), isForgetful: false, isWritten: () => true, write: async () => {} }
  const table = createPromiseTable({
    file,
    self: () => ({ node: A, start: 1, boot: 1, nowMs: clock.nowMs, timings }),
    log,
  })
  const follow = (copy: DesiredCopy) => table.follow(new Map([[VOLUME, copy]]), true)
  follow(DESIRED)
  let stored: GroupRecord = { epoch: 1, primary: A, promotable: [B], cv: 3, handover: undefined }
  const configuration = () => ({
    volume: VOLUME,
    epoch: stored.epoch,
    primary: A,
    promotable: stored.promotable.map(asNodeId),
    cv: stored.cv,
  })
  const network = { isDeaf: true }
  const sent: ConfigureRequest['kind'][] = []
  const { ask } = createServerRequests({
    table,
    nowMs: () => clock.nowMs,
    timings,
    log,
    live: { liveEpoch: () => 1, isReleased: () => false },
    current: () => undefined,
    fences: { isWatched: async () => true },
    onChange() {},
    async configure(requests) {
      sent.push(...requests.map(({ kind }) => kind))
      for (const { epoch } of requests)
        stored = shrinkGroup(stored, { kind: 'shrink', from: A, epoch, node: B }).record
      if (network.isDeaf) throw new Error('The server did not answer in time.')
      return [configuration()]
    },
  })
  const endMs = (): number => {
    const role = table.of(VOLUME)
    if (role?.role !== 'primary') throw new Error('no primary')
    return roleEndMs(role, false, timings)
  }
  return { clock, network, sent, ask, follow, endMs, stored: configuration }
}

async function loseAnswer() {
  const primary = startPrimary()
  primary.clock.nowMs = timings.shrinkAfterMs
  await primary.ask()
  expect(primary.stored()).toMatchObject({ promotable: [], cv: 4 })
  // The primary does not know it: its lease ends, and the fencer acts.
  expect(primary.endMs()).toBeLessThan(primary.clock.nowMs)
  return primary
}

test('it continues with the answer to its repeated request, which changes nothing', async () => {
  const { network, sent, ask, endMs, stored } = await loseAnswer()
  await ask()
  expect(endMs()).toBe(Number.NEGATIVE_INFINITY)
  network.isDeaf = false
  await ask()
  expect([endMs(), stored().cv]).toEqual([Number.POSITIVE_INFINITY, 4])
  expect(sent).toEqual(['shrink', 'shrink', 'shrink'])
})

test('it continues with the desired copy that a new session delivers', async () => {
  const { follow, endMs } = await loseAnswer()
  follow({ ...DESIRED, cv: 4, promotable: [] })
  expect(endMs()).toBe(Number.POSITIVE_INFINITY)
})

test('it stays fenced while it is sent what it knows already', async () => {
  const { follow, endMs } = await loseAnswer()
  follow(DESIRED)
  expect(endMs()).toBe(Number.NEGATIVE_INFINITY)
})
