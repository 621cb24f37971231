// Nodes with a pool, a peer port on the loopback interface and the replication of volumes, without an engine and without a
// server: tests set the desired copies and peers. Rounds run only when a test asks for them.

import type { KeyObject } from 'node:crypto'
import { randomBytes } from 'node:crypto'
import {
  asNodeId,
  asVolumeId,
  type DesiredCopy,
  type NodeId,
  type Peer,
  ulid,
  type VolumeCheckpoint,
  type VolumeId,
} from '@holdfast/contract'
import pino from 'pino'
import { MIB, startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { selfSignedIdentity, type TlsIdentity } from '../peer/certificate.ts'
import { dialPeer } from '../peer/dial.ts'
import { listenForPeers } from '../peer/listen.ts'
import { createPace, createPeerRequests, type PeerRequests } from '../peer/requests.ts'
import type { LiveCopies, Released } from '../ports/live-copies.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { createIncoming } from './incoming.ts'
import { type Replication, startReplication } from './replication.ts'

export const SIZE = 64 * MIB
const NEVER_MS = 3_600_000
const FAST = 1024 ** 3

export const newVolumeId = (): VolumeId => asVolumeId(`vol_${ulid(Date.now(), randomBytes(10))}`)
export const newNodeId = (): NodeId => asNodeId(`node_${ulid(Date.now(), randomBytes(10))}`)

export interface SentStream {
  readonly volume: VolumeId
  readonly base: VolumeCheckpoint | undefined
  bytes: number
}

export interface PeerNode {
  readonly id: NodeId
  readonly key: KeyObject
  readonly identity: TlsIdentity
  readonly home: TestPool
  readonly peer: Peer
  readonly copies: Map<VolumeId, DesiredCopy>
  readonly peers: Peer[]
  readonly replication: Replication
  readonly released: Map<VolumeId, Released>
  /** Volumes that a container may write. */
  readonly written: Set<VolumeId>
  readonly groups: VolumeId[][]
  /** Freezes and thaws of writers, in order. */
  readonly frozen: string[]
  readonly changes: VolumeId[]
  /** Every stream that was opened to send a checkpoint. */
  readonly streams: SentStream[]
  /** The node's clock, which only tests move, so no result depends on the speed of the machine. */
  clockMs: number
  /** Messages of the log. */
  readonly logged: string[]
  close(): Promise<void>
}

/** `live`: undefined for a node whose releases stay in memory. */
export async function startPeerNode(
  home?: TestPool,
  bytesPerSecond = FAST,
  live?: LiveCopies,
): Promise<PeerNode> {
  const key = generateNodeKeys().identityKey
  const identity = selfSignedIdentity(key)
  const pool = home ?? (await startPool())
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const shared = {
    copies: new Map<VolumeId, DesiredCopy>(),
    peers: [] as Peer[],
    released: new Map<VolumeId, Released>(),
    written: new Set<VolumeId>(),
    groups: [] as VolumeId[][],
    frozen: [] as string[],
    changes: [] as VolumeId[],
    streams: [] as SentStream[],
    clockMs: 0,
  }
  const port = await listenForPeers({
    host: '127.0.0.1',
    port: 0,
    identity,
    peers: () => shared.peers,
    serve: createIncoming({
      pool: () => pool.pool,
      desired: (volume) => shared.copies.get(volume),
      onStored: () => {},
      log,
    }).serve,
    log,
  })
  const monotonicMs = (): number => node.clockMs
  const replication = startReplication({
    pool: () => pool.pool,
    copies: () => shared.copies,
    peers: () => shared.peers,
    live: live ?? {
      liveEpoch: (volume) => shared.copies.get(volume)?.epoch,
      isReleased: (volume) => shared.released.has(volume),
      release: async (volume, released) => void shared.released.set(volume, released),
    },
    writers: writersOf(shared),
    requests: noteStreams(
      createPeerRequests(
        (peer) => dialPeer(peer, { identity, allowLocal: true }),
        createPace(bytesPerSecond, () => performance.now()),
      ),
      shared.streams,
    ),
    onChange: (volume) => void shared.changes.push(volume),
    monotonicMs,
    roundMs: NEVER_MS,
    log,
  })
  const id = newNodeId()
  const peer = { nodeId: id, address: `127.0.0.1:${port.port}`, publicKeys: [publicKeyText(key)] }
  const close = async (): Promise<void> => {
    await replication.close()
    await port.close()
    pool.remove()
  }
  const node: PeerNode = Object.assign(shared, {
    id,
    key,
    identity,
    home: pool,
    peer,
    replication,
    logged,
    close,
  })
  return node
}

function noteStreams(requests: PeerRequests, streams: SentStream[]): PeerRequests {
  return {
    ...requests,
    copy: (peer, request, open) =>
      requests.copy(peer, request, () => {
        const { stream, digest } = open()
        const sent: SentStream = { volume: request.volume, base: request.base, bytes: 0 }
        streams.push(sent)
        stream.on('data', (chunk: Buffer) => {
          sent.bytes += chunk.length
        })
        return { stream, digest }
      }),
  }
}

function writersOf({ groups, written, frozen }: Pick<PeerNode, 'groups' | 'written' | 'frozen'>) {
  return {
    groups: () => groups,
    hasWriter: async (volume: VolumeId) => written.has(volume),
    async freeze(volumes: readonly VolumeId[]) {
      frozen.push(`freeze ${volumes.length}`)
      return async () => void frozen.push('thaw')
    },
  }
}

const copyOf = (volume: VolumeId, rest: Partial<DesiredCopy>): DesiredCopy => ({
  volume,
  epoch: 1,
  role: 'primary',
  sizeBytes: SIZE,
  desired: 'present',
  mayCreate: true,
  peers: [],
  ...rest,
})

/** Makes the nodes peers of each other, and the first one the primary of a new volume. Returns the volume's mount point. */
export async function replicate(
  volume: VolumeId,
  primary: PeerNode,
  ...replicas: PeerNode[]
): Promise<string> {
  const all = [primary, ...replicas]
  for (const node of all)
    node.peers.splice(0, node.peers.length, ...all.filter((one) => one !== node).map(({ peer }) => peer))
  primary.copies.set(volume, copyOf(volume, { peers: replicas.map(({ id }) => id) }))
  for (const { copies } of replicas)
    copies.set(volume, copyOf(volume, { role: 'replica', peers: [primary.id] }))
  return primary.home.pool.provision(volume, 2 * SIZE)
}
