// One node of the replication benchmark: a process with a pool and the agent's own peer port and replication. It also runs
// the commands of the bare side, so that both sides are pinned alike and their CPU time is counted alike.
// Requests and answers are messages of the parent process.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openBtrfsPool } from '@holdfast/agent/adapters/btrfs/open-pool'
import { unmountBelow } from '@holdfast/agent/adapters/btrfs/pool.fixture'
import { startPeers } from '@holdfast/agent/replication/start-peers'
import { generateNodeKeys, publicKeyText } from '@holdfast/agent/state/node-state'
import { asNodeId, type DesiredCopy, type Peer, ulid, type VolumeId } from '@holdfast/contract'
import { freePort } from '@holdfast/testkit'
import pino from 'pino'

const [folder = '', poolBytes = ''] = process.argv.slice(2)
const POLL_MS = 2
/** The replication rate of the agent limits nothing here. */
const UNLIMITED = 1e12

const pool = await openBtrfsPool({ path: join(folder, 'pool.img'), sizeBytes: Number(poolBytes) }, folder)
const root = join(folder, 'pool')
const { identityKey } = generateNodeKeys()
const copies = new Map<VolumeId, DesiredCopy>()
const peers: Peer[] = []
const port = await freePort()
const address = `127.0.0.1:${port}`
const replication = await startPeers({
  settings: { address, host: '127.0.0.1', port, bytesPerSecond: UNLIMITED, allowLocal: true },
  identityKey,
  pool: () => pool,
  copies: () => copies,
  peers: () => peers,
  live: {
    liveEpoch: (volume) => copies.get(volume)?.epoch,
    isReleased: () => false,
    release: () => Promise.reject(new Error('no handover here')),
  },
  writers: {
    groups: () => [],
    hasWriter: async () => true,
    freeze: () => Promise.reject(new Error('no groups here')),
  },
  onStored: () => {},
  onChange: () => {},
  monotonicMs: () => performance.now(),
  log: pino({ level: 'warn' }),
})

/** The number of the newest checkpoint that the replica has acknowledged. */
const acknowledged = (volume: VolumeId): number =>
  Math.max(0, ...(replication.measure(volume) ?? []).map(({ checkpoint }) => checkpoint?.number ?? 0))

/** Runs rounds until the replica has acknowledged another checkpoint. */
async function replicate(volume: VolumeId): Promise<void> {
  const before = acknowledged(volume)
  await replication.check()
  while (acknowledged(volume) === before) await pause(POLL_MS)
}

function shell(script: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Standard input stays open, because openssl ends when it is closed.
    const child = spawn('sh', ['-c', `set -e; ${script}`], { stdio: ['pipe', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script}: exit ${code}`))))
  })
}

/** CPU time of this process and its ended children, in microseconds. */
function cpu(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10_000, 0)
}

export type PeerRequest =
  | { readonly kind: 'shell'; readonly script: string }
  | { readonly kind: 'copy'; readonly copy: DesiredCopy; readonly peer: Peer }
  | { readonly kind: 'provision'; readonly volume: VolumeId; readonly bytes: number }
  | { readonly kind: 'replicate'; readonly volume: VolumeId }
  | { readonly kind: 'remove'; readonly volume: VolumeId }
  | { readonly kind: 'cpu' }
  | { readonly kind: 'close' }

async function perform(request: PeerRequest): Promise<unknown> {
  switch (request.kind) {
    case 'shell':
      return shell(request.script)
    case 'provision':
      return pool.provision(request.volume, 2 * request.bytes)
    case 'copy':
      peers.splice(0, peers.length, request.peer)
      return void copies.set(request.copy.volume, request.copy)
    case 'replicate':
      return replicate(request.volume)
    case 'remove':
      copies.delete(request.volume)
      return pool.remove(request.volume)
    case 'cpu':
      return cpu()
    case 'close':
      await replication.close()
      return unmountBelow(folder)
  }
}

process.on('message', ({ id, request }: { readonly id: number; readonly request: PeerRequest }) => {
  perform(request).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
const nodeId = asNodeId(`node_${ulid(Date.now(), crypto.getRandomValues(new Uint8Array(10)))}`)
const peer = { nodeId, address, publicKeys: [publicKeyText(identityKey)] }
process.send?.({ id: 0, value: { root, peer } })
