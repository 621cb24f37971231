// A node whose file of promises is unreadable: it continues without the volumes concerned, and recovers them by a read of the
// stored configuration. The test acts as the server.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asNodeId, asVolumeId, type Configuration, type DesiredCopy, type VolumeId } from '@holdfast/contract'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { NoSessionError } from '../ports/session.ts'
import { startPromises } from './start-promises.ts'

const LEASE_MS = 300
const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const A = asNodeId('node_01JCPZ0000000000000000000A')
const B = asNodeId('node_01JCPZ0000000000000000000B')
const PRIMARY: DesiredCopy = {
  volume: VOLUME,
  epoch: 1,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: false,
  peers: [],
  cv: 3,
  promotable: [],
}
const REPLICA: DesiredCopy = { ...PRIMARY, role: 'replica', peers: [B], promotable: [A] }
const STORED: Configuration = { volume: VOLUME, epoch: 1, primary: A, promotable: [], cv: 3 }
const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function startTorn(copy: DesiredCopy) {
  const folder = makeTempFolder('lost-promises')
  ends.push(folder.remove)
  writeFileSync(join(folder.path, 'promises.json'), '{"v":1,"nodeId":"')
  return start(folder.path, copy, 4)
}

/** The stored configuration is undefined while the server is away. */
async function start(folder: string, copy: DesiredCopy, startNumber: number) {
  const server: { stored: Configuration | undefined } = { stored: undefined }
  const logged: string[] = []
  const changed: VolumeId[] = []
  const copies = new Map([[VOLUME, copy]])
  const promises = await startPromises({
    folder,
    nodeId: A,
    start: { number: startNumber, isSaved: () => true },
    leaseMs: LEASE_MS,
    copies: () => copies,
    peers: () => [],
    live: { liveEpoch: () => 1, isReleased: () => false },
    fences: { isWatched: async () => true },
    async configure() {
      if (server.stored === undefined) throw new NoSessionError()
      return [server.stored]
    },
    onChange: (volume) => void changed.push(volume),
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
  })
  ends.push(promises.close)
  promises.follow(true)
  promises.connect({
    dial: () => Promise.reject(new Error('no peer')),
    current: () => undefined,
    list: async () => ({ volumes: [], checkpoints: [] }),
  })
  return { folder, server, logged, changed, promises }
}

const ask = { volume: VOLUME, epoch: 1, cv: 3 }

test('a primary has no lease until the server has confirmed its configuration, also after another start', async () => {
  const { folder, promises, logged } = await startTorn(PRIMARY)
  expect([promises.endMs(VOLUME), promises.isForgotten(VOLUME)]).toEqual([Number.NEGATIVE_INFINITY, true])
  expect(logged.join('')).toContain('promises file is unreadable')
  await promises.close()
  const again = await start(folder, PRIMARY, 5)
  expect(again.promises.isForgotten(VOLUME)).toBe(true)
  again.server.stored = STORED
  await waitUntil(() => again.promises.endMs(VOLUME) === Number.POSITIVE_INFINITY, {
    what: 'the server has confirmed the configuration',
  })
  expect(again.changed).toEqual([VOLUME])
  again.promises.follow(true)
  await again.promises.close()
  const last = await start(folder, PRIMARY, 6)
  expect(last.promises.isForgotten(VOLUME)).toBe(false)
})

test('a promotable copy stores nothing, and votes only once it has promised for as long as it can have promised', async () => {
  const { promises, server } = await startTorn(REPLICA)
  server.stored = { ...STORED, primary: B, promotable: [A] }
  expect(promises.mayStore(VOLUME, { epoch: 1, number: 9 })).toBe(false)
  expect(await promises.answer('prepare', [ask])).toEqual([])
  await waitUntil(async () => (await promises.answer('promises', [ask]))[0]?.state === 'voted', {
    what: 'the copy counts as one that has voted',
  })
})

test('a copy that the primary has dropped promises again at once', async () => {
  const { promises, server } = await startTorn(REPLICA)
  server.stored = { ...STORED, primary: B, promotable: [], cv: 4 }
  await waitUntil(async () => (await promises.answer('promises', [ask]))[0]?.state === 'promised', {
    what: 'the copy promises',
  })
  expect(promises.mayStore(VOLUME, { epoch: 1, number: 9 })).toBe(true)
})
