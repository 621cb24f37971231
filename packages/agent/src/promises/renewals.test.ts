// Renewals between two nodes in one process, over real connections. A relay counts their bytes on the wire, with the
// overhead of TLS: at most 200 a second for a pair of nodes and 20 more for each volume. The lease is short and the result
// is scaled to the shipped one.

import { connect, createServer, type Socket } from 'node:net'
import type { DesiredCopy, Peer, VolumeId } from '@holdfast/contract'
import { PROMOTION_TIMINGS, timingsFor } from '@holdfast/core/promotion/timings'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { bootClockMs } from '../fencer/boot-clock.ts'
import { selfSignedIdentity } from '../peer/certificate.ts'
import { dialPeer } from '../peer/dial.ts'
import { listenForPeers } from '../peer/listen.ts'
import { nameOfSet } from '../peer/renewals.ts'
import { createIncoming } from '../replication/incoming.ts'
import { newNodeId, newVolumeId } from '../replication/peer-nodes.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { type Promises, startPromises } from './start-promises.ts'

const LEASE_MS = 1_500
const ROUNDS = 4
const COUNTS = [1, 100]
const ROUND_MS = timingsFor(LEASE_MS).renewEveryMs
const log = pino({ level: 'silent' })
const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

interface Node {
  readonly id: ReturnType<typeof newNodeId>
  readonly key: ReturnType<typeof generateNodeKeys>['identityKey']
  readonly copies: Map<VolumeId, DesiredCopy>
  readonly peers: Peer[]
  readonly folder: string
  readonly logged: string[]
  /** Volumes that the node has released. */
  readonly released: Set<VolumeId>
  readonly promises: Promises
}

/** `before`: the node whose agent is restarted. */
async function startNode(before?: Node): Promise<Node> {
  const folder = before?.folder ?? newFolder()
  const own = before ?? { id: newNodeId(), key: generateNodeKeys().identityKey }
  const released = new Set<VolumeId>()
  const logged: string[] = []
  const copies = new Map<VolumeId, DesiredCopy>()
  const peers: Peer[] = []
  const promises = await startPromises({
    folder,
    nodeId: own.id,
    start: { number: 1, isSaved: () => true },
    leaseMs: LEASE_MS,
    copies: () => copies,
    peers: () => peers,
    live: { liveEpoch: () => 1, isReleased: (volume) => released.has(volume) },
    fences: { isWatched: async () => true },
    configure: async () => [],
    onChange() {},
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
  })
  ends.push(promises.close)
  return { id: own.id, key: own.key, folder, copies, peers, promises, released, logged }
}

function newFolder(): string {
  const folder = makeTempFolder('promises')
  ends.push(folder.remove)
  return folder.path
}

/** Forwards connections to a port and counts them, and the bytes in both directions. */
async function startRelay(port: number) {
  let bytes = 0
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections += 1
    const to = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [socket, to],
      [to, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        other.write(chunk)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: Object(server.address()).port, bytes: () => bytes, connections: () => connections }
}

const peerOf = ({ id, key }: Node, port: number): Peer => ({
  nodeId: id,
  address: `127.0.0.1:${port}`,
  publicKeys: [publicKeyText(key)],
})

async function listen({ key, copies, peers, promises }: Node): Promise<number> {
  const { serve } = createIncoming({
    pool: () => undefined,
    desired: (volume) => copies.get(volume),
    onStored() {},
    promises,
    log,
  })
  const identity = selfSignedIdentity(key)
  const port = await listenForPeers({ host: '127.0.0.1', port: 0, identity, peers: () => peers, serve, log })
  ends.push(port.close)
  return port.port
}

const copyOf = (volume: VolumeId, rest: Partial<DesiredCopy>): DesiredCopy => ({
  volume,
  epoch: 1,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: true,
  peers: [],
  cv: 7,
  promotable: [],
  ...rest,
})

interface Pair {
  readonly primary: Node
  readonly replica: Node
  readonly relay: Awaited<ReturnType<typeof startRelay>>
  readonly volumes: readonly VolumeId[]
  /** The earliest end of a lease. */
  endOf(node?: Node): number
}

function connectPrimary({ primary }: Pick<Pair, 'primary'>): void {
  const identity = selfSignedIdentity(primary.key)
  primary.promises.connect({
    dial: (peer, handshakeMs) => dialPeer(peer, { identity, allowLocal: true, handshakeMs }),
    current: () => undefined,
    list: async () => ({ volumes: [], checkpoints: [] }),
  })
}

/** A primary of so many volumes, and a replica that has promised once. */
async function startPair(count: number): Promise<Pair> {
  const [primary, replica] = [await startNode(), await startNode()]
  const relay = await startRelay(await listen(replica))
  primary.peers.push(peerOf(replica, relay.port))
  replica.peers.push(peerOf(primary, 9))
  const volumes = Array.from({ length: count }, newVolumeId)
  for (const volume of volumes) {
    primary.copies.set(volume, copyOf(volume, { peers: [replica.id], promotable: [replica.id] }))
    replica.copies.set(volume, copyOf(volume, { role: 'replica', peers: [primary.id] }))
  }
  for (const { promises } of [primary, replica]) promises.follow(true)
  const endOf = (node = primary): number => Math.min(...volumes.map((volume) => node.promises.endMs(volume)))
  connectPrimary({ primary })
  await waitFor(() => Number.isFinite(endOf()))
  return { primary, replica, relay, volumes, endOf }
}

const waitFor = (isReached: () => boolean) =>
  expect.poll(isReached, { timeout: 30_000, interval: 5 }).toBe(true)

/** The bytes of one renewal, without connections that a starved machine opens again. */
async function bytesPerRenewal(pair: Pair): Promise<number> {
  const { relay, endOf } = pair
  const [bytes, end, connections] = [relay.bytes(), endOf(), relay.connections()]
  await waitFor(() => endOf() >= end + ROUNDS * ROUND_MS - 20)
  if (relay.connections() !== connections) return bytesPerRenewal(pair)
  return (relay.bytes() - bytes) / Math.round((endOf() - end) / ROUND_MS)
}

test.each(COUNTS)('%i volumes stay below the budget, and every promise extends its lease', async (count) => {
  const bytes = await bytesPerRenewal(await startPair(count))
  const perSecond = bytes * (1000 / PROMOTION_TIMINGS.renewEveryMs)
  console.log(`${count} volumes: ${Math.round(perSecond)} bytes a second with a lease of 12 s`)
  expect(perSecond).toBeLessThanOrEqual(200 + 20 * count)
})

test('a released volume has no lease and is not renewed, while others are', async () => {
  const { primary, replica, volumes, endOf } = await startPair(2)
  const [released, other] = volumes
  if (released === undefined || other === undefined) throw new Error('no volumes')
  primary.released.add(released)
  expect(primary.promises.endMs(released)).toBe(Number.NEGATIVE_INFINITY)
  const asked = { epoch: 1, cv: 7 }
  const stateOf = async (volume: VolumeId) =>
    (await replica.promises.answer('promises', [{ volume, ...asked }]))[0]?.state
  // The replica answers the controller without a pool.
  connectPrimary({ primary: replica })
  await expect.poll(() => stateOf(released), { timeout: 30_000 }).toBe('expired')
  expect(await stateOf(other)).toBe('promised')
  expect(endOf()).toBe(Number.NEGATIVE_INFINITY)
})

test('a restarted agent continues its leases, but not if its set of volumes differs', async () => {
  const { primary, endOf } = await startPair(3)
  await primary.promises.close()
  const endBefore = endOf()
  const restarted = await startNode(primary)
  expect(endOf(restarted)).toBe(endBefore)
  await restarted.promises.close()
  const [first] = primary.copies.values()
  if (first === undefined) throw new Error('no copy')
  restarted.copies.set(first.volume, { ...first, cv: 8 })
  restarted.promises.follow(false)
  await restarted.promises.close()
  expect(endOf(await startNode(primary))).toBe(Number.NEGATIVE_INFINITY)
})

test('a node whose key the server no longer names is not acknowledged on a connection from before', async () => {
  const { replica, relay, endOf } = await startPair(1)
  replica.peers.splice(0)
  await waitFor(() => endOf() < bootClockMs())
  expect(relay.connections()).toBeGreaterThan(1)
})

test('a node with an older agent is asked rarely, and logged once', async () => {
  const primary = await startNode()
  let connections = 0
  const old = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve))
  ends.push(() => void old.close())
  const peer = { nodeId: newNodeId(), address: `127.0.0.1:${Object(old.address()).port}`, publicKeys: ['x'] }
  primary.peers.push(peer)
  const volume = newVolumeId()
  primary.copies.set(volume, copyOf(volume, { peers: [peer.nodeId] }))
  primary.promises.follow(true)
  connectPrimary({ primary })
  await waitFor(() => primary.logged.length > 0)
  const fromMs = bootClockMs()
  await waitFor(() => bootClockMs() >= fromMs + 2 * ROUND_MS)
  expect([connections, primary.logged.length]).toEqual([1, 1])
  expect(primary.promises.endMs(volume)).toBe(Number.POSITIVE_INFINITY)
})

test('many nodes behind one address keep their connections', async () => {
  const replica = await startNode()
  const port = await listen(replica)
  const keys = Array.from({ length: 24 }, () => generateNodeKeys().identityKey)
  for (const key of keys)
    replica.peers.push({ nodeId: newNodeId(), address: '127.0.0.1:9', publicKeys: [publicKeyText(key)] })
  const set = nameOfSet([])
  const sent = { boot: 1, ms: 1 }
  for (const key of keys) {
    const identity = selfSignedIdentity(key)
    const connection = await dialPeer(peerOf(replica, port), { identity, allowLocal: true })
    ends.push(connection.close)
    await connection.request({ request: 'renew', sent, lease: LEASE_MS, set, isFull: true })
    await connection.sendSet([])
    expect(await connection.readAnswer(10_000)).toEqual({ answer: 'renewed', start: 1 })
  }
})
