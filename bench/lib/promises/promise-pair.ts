// Two nodes in this process that exchange promises by the agent's own code over a real peer port. One is the primary of all
// volumes, the other one has a promotable copy of each. The bytes of the renewals are counted.

import { randomBytes } from 'node:crypto'
import { bootClockMs } from '@holdfast/agent/fencer/boot-clock'
import { selfSignedIdentity } from '@holdfast/agent/peer/certificate'
import type { PeerConnection } from '@holdfast/agent/peer/connection'
import { dialPeer } from '@holdfast/agent/peer/dial'
import { listenForPeers } from '@holdfast/agent/peer/listen'
import { type Promises, startPromises } from '@holdfast/agent/promises/start-promises'
import { createIncoming } from '@holdfast/agent/replication/incoming'
import { generateNodeKeys, publicKeyText } from '@holdfast/agent/state/node-state'
import {
  asNodeId,
  asVolumeId,
  type DesiredCopy,
  type NodeId,
  type Peer,
  ulid,
  type VolumeId,
} from '@holdfast/contract'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { type CountingRelay, startCountingRelay } from '../counting-relay.ts'

const HOST = '127.0.0.1'
const log = pino({ level: 'silent' })
const newId = (): string => ulid(Date.now(), randomBytes(10))

interface CountedRenewals {
  readonly renewals: number
  /** Bytes of the messages in both directions. */
  readonly payload: number
  /** The same with the framing and the overhead of TLS. */
  readonly wire: number
}

export interface PromisePair {
  counts(): CountedRenewals
  /** Whether the promises let the primary write every volume now. */
  isLeased(): boolean
  stop(): Promise<void>
}

interface Node {
  readonly id: NodeId
  readonly key: ReturnType<typeof generateNodeKeys>['identityKey']
  readonly copies: Map<VolumeId, DesiredCopy>
  readonly peers: Peer[]
  readonly promises: Promises
  stop(): Promise<void>
}

async function startNode(): Promise<Node> {
  const folder = makeTempFolder('bench-promises')
  const id = asNodeId(`node_${newId()}`)
  const copies = new Map<VolumeId, DesiredCopy>()
  const peers: Peer[] = []
  const promises = await startPromises({
    folder: folder.path,
    nodeId: id,
    start: { number: 1, isSaved: () => true },
    leaseMs: PROMOTION_TIMINGS.leaseMs,
    copies: () => copies,
    peers: () => peers,
    live: { liveEpoch: () => 1, isReleased: () => false },
    fences: { isWatched: async () => true },
    configure: async () => [],
    onChange() {},
    log,
  })
  const stop = async (): Promise<void> => {
    await promises.close()
    folder.remove()
  }
  return { id, key: generateNodeKeys().identityKey, copies, peers, promises, stop }
}

/** Starts a pair, and resolves when all promises have been given once. */
export async function startPromisePair(volumes: number): Promise<PromisePair> {
  const [primary, copy] = await Promise.all([startNode(), startNode()])
  const port = await listen(copy)
  const relay = await startCountingRelay(port.port)
  primary.peers.push(peerOf(copy, relay.port))
  copy.peers.push(peerOf(primary, 9))
  const ids = Array.from({ length: volumes }, () => asVolumeId(`vol_${newId()}`))
  for (const volume of ids) {
    primary.copies.set(volume, copyOf(volume, 'primary', copy.id, copy.id))
    copy.copies.set(volume, copyOf(volume, 'replica', primary.id, copy.id))
  }
  for (const { promises } of [primary, copy]) promises.follow(true)
  const counts = connectCounted(primary, relay)
  const isLeased = (): boolean => {
    const ends = ids.map((volume) => primary.promises.endMs(volume))
    return ends.every((end) => Number.isFinite(end) && end > bootClockMs())
  }
  await waitUntil(isLeased, { what: `${volumes} volumes have promises` })
  return {
    counts,
    isLeased,
    async stop() {
      await Promise.all([primary.stop(), copy.stop()])
      relay.stop()
      await port.close()
    },
  }
}

const peerOf = ({ id, key }: Node, port: number): Peer => ({
  nodeId: id,
  address: `${HOST}:${port}`,
  publicKeys: [publicKeyText(key)],
})

const copyOf = (
  volume: VolumeId,
  role: DesiredCopy['role'],
  other: NodeId,
  promotable: NodeId,
): DesiredCopy => ({
  ...{ volume, role, epoch: 1, sizeBytes: 1, desired: 'present', mayCreate: true },
  ...{ peers: [other], cv: 7, promotable: [promotable] },
})

function listen({ key, copies, peers, promises }: Node) {
  const { serve } = createIncoming({
    pool: () => undefined,
    desired: (volume) => copies.get(volume),
    onStored() {},
    promises,
    log,
  })
  const identity = selfSignedIdentity(key)
  return listenForPeers({ host: HOST, port: 0, identity, peers: () => peers, serve, log })
}

/** Connects the primary to its peers and counts the messages of each renewal that was answered. */
function connectCounted({ key, promises }: Node, relay: CountingRelay): () => CountedRenewals {
  const identity = selfSignedIdentity(key)
  let [renewals, payload, unanswered] = [0, 0, 0]
  const sizeOf = (message: object): number => Buffer.byteLength(JSON.stringify(message))
  const counted = (connection: PeerConnection): PeerConnection => ({
    ...connection,
    request(message) {
      unanswered += sizeOf(message)
      return connection.request(message)
    },
    sendSet(items) {
      unanswered += sizeOf(items)
      return connection.sendSet(items)
    },
    async readAnswer(deadlineMs) {
      const answer = await connection.readAnswer(deadlineMs)
      renewals += 1
      payload += unanswered + sizeOf(answer)
      unanswered = 0
      return answer
    },
  })
  promises.connect({
    dial: async (peer, handshakeMs) =>
      counted(await dialPeer(peer, { identity, allowLocal: true, handshakeMs })),
    current: () => undefined,
    list: async () => ({ volumes: [], checkpoints: [] }),
  })
  return () => {
    const { sent, received } = relay.bytes()
    return { renewals, payload, wire: sent + received }
  }
}
