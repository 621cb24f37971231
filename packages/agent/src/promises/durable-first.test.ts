// A vote and a request for a promotable node leave only after they are on disk. The disk is a function here, which answers
// when the test resolves it.

import { asNodeId, asVolumeId, type ConfigureRequest, type DesiredCopy } from '@holdfast/contract'
import { timingsFor } from '@holdfast/core/promotion/timings'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createControllerAnswers } from './answer-controller.ts'
import { createServerRequests } from './ask-server.ts'
import { createPromiseTable, type PromiseTable } from './promise-table.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const [A, B] = [asNodeId('node_01JCPZ0000000000000000000A'), asNodeId('node_01JCPZ0000000000000000000B')]
const timings = timingsFor(12_000)
const log = pino({ level: 'silent' })
const COPY: DesiredCopy = {
  volume: VOLUME,
  epoch: 1,
  role: 'replica',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: true,
  peers: [A],
  cv: 1,
  promotable: [],
}
const PRIMARY: DesiredCopy = { ...COPY, role: 'primary', peers: [B] }

/** A table at the node whose disk writes when the test resolves a write, and a clock that only the test moves. */
function startTable(node: typeof A, copy: DesiredCopy, isFast = false) {
  const clock = { nowMs: 0 }
  const writes: PromiseWithResolvers<void>[] = []
  const file = {
    boot: 1,
    saved: new Map(),
    isForgetful: false,
    isWritten: () => true,
    write() {
      const write = Promise.withResolvers<void>()
      writes.push(write)
      if (isFast) write.resolve()
      return write.promise
    },
  }
  const self = () => ({ node, start: 1, boot: 1, nowMs: clock.nowMs, timings })
  const table = createPromiseTable({ file, self, log })
  table.follow(new Map([[VOLUME, copy]]), true)
  const nowMs = () => clock.nowMs
  return { clock, writes, shared: { table, nowMs, timings, log }, table }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

const GROWING = {
  live: { liveEpoch: () => 1, isReleased: () => false },
  current: () => ({ number: 4, nodes: [B] }),
  onChange() {},
}

function primaryOf(table: PromiseTable) {
  const role = table.of(VOLUME)
  if (role?.role !== 'primary') throw new Error('no primary')
  return role
}
const askedOf = (table: PromiseTable) => primaryOf(table).primary.durable.asked
/** The copy has promised at this time. */
function promise(table: PromiseTable, ms: number): void {
  const role = primaryOf(table)
  table.replace(VOLUME, { ...role, primary: { ...role.primary, lease: new Map([[B, ms]]) } })
}

const answersOf = (shared: ReturnType<typeof startTable>['shared']) =>
  createControllerAnswers({
    ...shared,
    stamps: { of: () => undefined },
    list: async () => ({ volumes: [], checkpoints: [] }),
  })

test('a vote leaves after it is on disk', async () => {
  const { clock, writes, shared } = startTable(B, COPY)
  writes[0]?.resolve()
  await turn()
  clock.nowMs = timings.promiseMs
  let isAnswered = false
  const answering = answersOf(shared)('prepare', [{ volume: VOLUME, epoch: 1, cv: 1 }])
  void answering.then(() => {
    isAnswered = true
  })
  await turn()
  expect([writes.length, isAnswered]).toEqual([2, false])
  writes[1]?.resolve()
  expect(await answering).toMatchObject([{ state: 'voted', cv: 1 }])
})

test('a vote that cannot be written does not leave, and is written again for the next request', async () => {
  const { clock, writes, shared } = startTable(B, COPY)
  writes[0]?.resolve()
  await turn()
  clock.nowMs = timings.promiseMs
  const answer = answersOf(shared)
  const answering = answer('prepare', [{ volume: VOLUME, epoch: 1, cv: 1 }])
  await turn()
  for (const write of writes) write.reject(new Error('no space'))
  await turn()
  for (const write of writes) write.reject(new Error('no space'))
  await expect(answering).rejects.toThrow('no space')
  const again = answer('promises', [{ volume: VOLUME, epoch: 1, cv: 1 }])
  await turn()
  writes.at(-1)?.resolve()
  expect(await again).toMatchObject([{ state: 'voted' }])
})

test('a node that the server refuses is requested again after growing delays', async () => {
  const { clock, shared, table } = startTable(A, PRIMARY, true)
  promise(table, 0)
  let cv = 1
  const { ask } = createServerRequests({
    ...shared,
    ...GROWING,
    fences: { isWatched: async () => true },
    async configure() {
      // A refusal has a newer version.
      cv += 1
      return [{ volume: VOLUME, epoch: 1, primary: A, promotable: [], cv }]
    },
  })
  const askAt = async (nowMs: number) => {
    clock.nowMs = nowMs
    promise(table, nowMs)
    await ask()
    await ask()
    return [cv, askedOf(table)]
  }
  expect(await askAt(0)).toEqual([2, []])
  expect(await askAt(3_999)).toEqual([2, []])
  expect(await askAt(4_000)).toEqual([3, []])
  expect(await askAt(11_999)).toEqual([3, []])
  expect(await askAt(12_000)).toEqual([4, []])
})

test('a promotable node is needed on disk before it is requested, and only while a fencer watches', async () => {
  const { writes, shared, table } = startTable(A, PRIMARY)
  promise(table, 0)
  const sent: ConfigureRequest[] = []
  let isWatched = false
  const { ask } = createServerRequests({
    ...shared,
    ...GROWING,
    fences: { isWatched: async () => isWatched },
    async configure(requests) {
      sent.push(...requests)
      return [{ volume: VOLUME, epoch: 1, primary: A, promotable: [B], cv: 2 }]
    },
  })
  await ask()
  await ask()
  expect([askedOf(table), sent]).toEqual([[B], []])
  isWatched = true
  const asking = ask()
  await turn()
  expect(sent).toEqual([])
  for (let at = 0; at < writes.length; at += 1) {
    writes[at]?.resolve()
    await turn()
  }
  await asking
  expect(sent).toEqual([{ kind: 'grow', volume: VOLUME, epoch: 1, cv: 1, nodeId: B }])
  const grown = table.of(VOLUME)
  expect(grown?.role === 'primary' && grown.primary.durable).toMatchObject({
    configured: [B],
    asked: [],
    cv: 2,
  })
})
