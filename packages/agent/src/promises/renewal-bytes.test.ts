// The bytes of renewals between two nodes, counted on the wire by a relay: at most 200 a second for a pair of nodes and 20
// more for each volume, with the overhead of TLS. The lease is short and the result is scaled to the shipped one.

import { connect, createServer, type Socket } from 'node:net'
import type { DesiredCopy, Peer, VolumeId } from '@holdfast/contract'
import { PROMOTION_TIMINGS, timingsFor } from '@holdfast/core/promotion/timings'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { selfSignedIdentity } from '../peer/certificate.ts'
import { dialPeer } from '../peer/dial.ts'
import { listenForPeers } from '../peer/listen.ts'
import { createIncoming } from '../replication/incoming.ts'
import { newNodeId, newVolumeId } from '../replication/peer-nodes.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { type Promises, startPromises } from './start-promises.ts'

const LEASE_MS = 1_500
const ROUNDS = 6
const COUNTS = [1, 100]
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
  readonly promises: Promises
}

async function startNode(): Promise<Node> {
  const folder = makeTempFolder('promises')
  const own = { id: newNodeId(), key: generateNodeKeys().identityKey }
  const copies = new Map<VolumeId, DesiredCopy>()
  const peers: Peer[] = []
  const promises = await startPromises({
    folder: folder.path,
    nodeId: own.id,
    start: 1,
    leaseMs: LEASE_MS,
    copies: () => copies,
    peers: () => peers,
    live: { liveEpoch: () => 1, isReleased: () => false },
    fences: { isWatched: async () => true },
    configure: async () => [],
    onExpiry() {},
    log,
  })
  ends.push(async () => {
    await promises.close()
    folder.remove()
  })
  return { ...own, copies, peers, promises }
}

/** Forwards connections to a port and counts the bytes in both directions. */
async function startRelay(port: number): Promise<{ readonly port: number; bytes(): number }> {
  let bytes = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
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
  return { port: Object(server.address()).port, bytes: () => bytes }
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

test.each(COUNTS)('%i volumes stay below the budget, and every promise extends its lease', async (count) => {
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
  primary.promises.connect({
    dial: (peer, handshakeMs) =>
      dialPeer(peer, { identity: selfSignedIdentity(primary.key), allowLocal: true, handshakeMs }),
    current: () => undefined,
    list: async () => ({ volumes: [], checkpoints: [] }),
  })
  const endOf = (): number => Math.min(...volumes.map((volume) => primary.promises.endMs(volume)))
  const waitFor = (isReached: () => boolean) =>
    expect.poll(isReached, { timeout: 30_000, interval: 5 }).toBe(true)
  await waitFor(() => Number.isFinite(endOf()))
  const [bytesBefore, endBefore] = [relay.bytes(), endOf()]
  const roundMs = timingsFor(LEASE_MS).renewEveryMs
  await waitFor(() => endOf() >= endBefore + ROUNDS * roundMs - 20)
  const rounds = Math.round((endOf() - endBefore) / roundMs)
  const perSecond = ((relay.bytes() - bytesBefore) / rounds) * (1000 / PROMOTION_TIMINGS.renewEveryMs)
  console.log(`${count} volumes: ${Math.round(perSecond)} bytes a second with a lease of 12 s`)
  expect(perSecond).toBeLessThanOrEqual(200 + 20 * count)
})
