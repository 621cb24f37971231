// Attempts of every kind on a replica's peer port, by everyone who can reach it: no attacker receives a byte of a volume,
// the pool does not change, btrfs reads only streams that their sender may send, and the agent stays small.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { createRandom } from '@holdfast/testkit/hostile/random'
import { inRun } from '@holdfast/testkit/long-run'
import { inTurn } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpointStream } from '../../adapters/btrfs/send-stream.fixture.ts'
import { roundsOf } from '../../fixtures/rounds.fixture.ts'
import { dialPeer } from '../../peer/dial.ts'
import { createPace, createPeerRequests } from '../../peer/requests.ts'
import { attemptsOn, idleAttempts } from './attempts.fixture.ts'
import { contentsOf, type HostileWorld, startHostileWorld } from './hostile-world.fixture.ts'
import { asPeer, header, speak, streamed } from './speak.fixture.ts'

/** At least each fifth kind of attempt; all kinds in turn. */
const ATTEMPTS = roundsOf('hostile-attempts', { fewest: 15, usual: 74, long: 1000 })
/** How often the whole pool is compared. */
const COMPARE_EVERY = 25
const IDLE = inRun(0, 48)
/** Attackers and victim are one process, so this bounds both. */
const MAX_GROWTH_BYTES = 256 * 1024 ** 2
/** Connections that have not proved a key, from addresses at which no peer is known. */
const MAX_STRANGERS = 64
const MAX_PER_ADDRESS = 16

let world: HostileWorld
let captured: Buffer
const requestsOf = (address = world.victim.peer.address) => {
  const peer = { ...world.victim.peer, address }
  const dial = () => dialPeer(peer, { identity: world.honest.identity, allowLocal: true })
  return createPeerRequests(
    dial,
    createPace(1024 ** 3, () => performance.now()),
  )
}
const portOf = (address: string): number => Number(address.split(':')[1])

/** The honest primary replicates its next checkpoint. */
async function replicateHonestly(number: number, address?: string): Promise<string> {
  const { honest, victim, target } = world
  const checkpoint = { epoch: 1, number }
  await honest.home.pool.takeCheckpoint(target, checkpoint)
  const base = { epoch: 1, number: number - 1 }
  const request = { request: 'copy', volume: target, checkpoint, base } as const
  const open = () => honest.home.pool.send(target, checkpoint, base)
  return (await requestsOf(address).copy(victim.peer, request, open)).kind
}

/** Replicates through a proxy and returns everything that the honest primary sent over TCP. */
async function capture(): Promise<Buffer> {
  const seen: Buffer[] = []
  const proxy = createServer((client) => {
    const server = createConnection({ host: '127.0.0.1', port: portOf(world.victim.peer.address) })
    client.on('data', (chunk: Buffer) => seen.push(chunk))
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  const port = typeof address === 'object' ? address?.port : 0
  expect(await replicateHonestly(2, `127.0.0.1:${port}`)).toBe('stored')
  await new Promise((resolve) => proxy.close(resolve))
  return Buffer.concat(seen)
}

beforeAll(async () => {
  world = await startHostileWorld()
  writeFileSync(join(world.data, 'more'), 'second')
  captured = await capture()
  world.received.length = 0
})
afterAll(() => world?.close())

const openFiles = (): number => readdirSync('/proc/self/fd').length

function requireNoData(what: string, received: Buffer): void {
  const text = received.toString('latin1')
  for (const content of world.contents) expect(text.includes(content), what).toBe(false)
  // Answers are a few words; the list of checkpoints of a volume is for its primary.
  expect(text, what).not.toContain('"held":[')
  expect(text, what).not.toContain('"stored"')
  expect(received.length, what).toBeLessThan(64 * 1024)
}

test('attempts by every kind of attacker read and change nothing', async () => {
  const random = createRandom(20_261_117)
  const all = attemptsOn(world, captured)
  const kinds = ATTEMPTS < all.length ? inTurn('machine-rounds', all) : all
  const before = contentsOf(world.victim)
  const [files, memory, began] = [openFiles(), process.memoryUsage().rss, performance.now()]
  const idle = idleAttempts(world, IDLE).map((speech) => speak(speech))
  let mayReceive = 0
  let peak = 0
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const attempt = kinds[count % kinds.length]?.(random)
    if (attempt === undefined) throw new Error('no attempt')
    const reads = world.received.length
    const received = await speak(attempt.speech)
    requireNoData(attempt.what, received)
    if (attempt.isStranger === true) expect(received.toString('latin1'), attempt.what).toBe('')
    if (attempt.isAuthorised) mayReceive += 1
    else expect(world.received.length, attempt.what).toBe(reads)
    peak = Math.max(peak, process.memoryUsage().rss)
    if (count % COMPARE_EVERY === 0) await untilEqual(attempt.what, before)
  }
  for (const received of await Promise.all(idle)) expect(received.toString('latin1')).toBe('')
  await untilEqual('the last attempt', before)
  await waitUntil(() => openFiles() <= files, { what: 'all connections are closed' })
  expect(peak - memory).toBeLessThan(MAX_GROWTH_BYTES)
  expect(new Set(world.received)).toEqual(new Set([world.own]))
  expect(world.received.length).toBeLessThanOrEqual(mayReceive)
  console.log(
    `hostile peers: ${ATTEMPTS} attempts of ${kinds.length} kinds and ${IDLE} slow connections in ${((performance.now() - began) / 1000).toFixed(1)} s: 0 bytes of volumes received, 0 changes of the pool; btrfs was started for ${world.received.length} streams of the attacker's own volume; memory grew by at most ${Math.round((peak - memory) / 1024 ** 2)} MiB`,
  )
})

/** A stream that was refused is removed from the pool before or just after its sender is gone. */
async function untilEqual(what: string, before: object): Promise<void> {
  const isEqual = (): boolean => JSON.stringify(contentsOf(world.victim)) === JSON.stringify(before)
  await waitUntil(isEqual, { what: `the pool is unchanged after ${what}`, timeoutMs: 10_000 })
}

test('many connections from many addresses keep within the limits', async () => {
  const port = portOf(world.victim.peer.address)
  const crowd = Array.from({ length: 400 }, (_, at) =>
    createConnection({ host: '127.0.0.1', port, localAddress: `127.0.9.${1 + (at % 20)}` }),
  )
  for (const socket of crowd) socket.on('error', () => {})
  const settled = Promise.all(crowd.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  const areOpen = () => crowd.filter(({ closed }) => !closed).length
  // Late handshakes end all of them after five seconds, with or without the limits.
  await waitUntil(() => areOpen() <= MAX_STRANGERS, { what: 'only some are left', timeoutMs: 4_000 })
  const [all, ofOneAddress] = countConnections(port)
  expect(all).toBeLessThanOrEqual(MAX_STRANGERS)
  expect(ofOneAddress).toBeLessThanOrEqual(MAX_PER_ADDRESS)
  for (const socket of crowd) socket.destroy()
  await settled
  await waitUntil(() => countConnections(port)[0] === 0, { what: 'every connection is closed' })
})

/** Established connections at the port: in total, and of the address with the most. */
function countConnections(port: number): [number, number] {
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const from = rows
    .filter(([, local = '', , state]) => local.endsWith(`:${hex}`) && state === '01')
    .map(([, , remote = '']) => remote.split(':')[0] ?? '')
  const counts = Map.groupBy(from, (address) => address)
  return [from.length, Math.max(0, ...[...counts.values()].map(({ length }) => length))]
}

test('afterwards the honest primary replicates, and a stream of this kind that breaks no rule is stored', async () => {
  const { attackers, own, victim, target, honest } = world
  writeFileSync(join(world.data, 'more'), 'third')
  expect(await replicateHonestly(3)).toBe('stored')
  const at = `checkpoints/${target}/1.3/1.3`
  const read = (root: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, at, 'more')))
      .digest('hex')
  expect(read(victim.home.root)).toBe(read(honest.home.root))
  const request = header({ request: 'copy', volume: own, checkpoint: { epoch: 1, number: 2 } })
  const bytes = Buffer.concat([request, streamed(checkpointStream('1.2', Buffer.alloc(16, 7)))])
  const answer = await speak({ port: portOf(victim.peer.address), bytes, tls: asPeer(attackers.hostile) })
  expect(answer.toString('latin1')).toContain('"stored"')
})
