// A replica under attack and everyone who can reach its port: the honest primary of one volume, a hostile node of the same
// tenant that is the primary of another volume, a peer without copies, a node of another tenant, and a stranger. Every
// stream that the replica passes to btrfs is recorded.

import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Peer, VolumeId } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { runCommand } from '@holdfast/testkit/run-command'
import { type Commands, systemCommands } from '../../adapters/btrfs/commands.ts'
import { checksums, startPool, type TestPool } from '../../adapters/btrfs/pool.fixture.ts'
import { selfSignedIdentity, type TlsIdentity } from '../../peer/certificate.ts'
import { generateNodeKeys, publicKeyText } from '../../state/node-state.ts'
import { newNodeId, newVolumeId, type PeerNode, replicate, startPeerNode } from '../peer-nodes.fixture.ts'

export interface HostileWorld {
  readonly victim: PeerNode
  readonly honest: PeerNode
  /** A node of the same tenant. It is the primary of `own`, and a replica of `lent`. */
  readonly hostile: PeerNode
  /** Identities by name: of the hostile node, of a peer without copies, of another tenant, and of no node. */
  readonly attackers: { readonly [who in Attacker]: TlsIdentity }
  /** Replicated from the honest node to the victim; no attacker has a copy. */
  readonly target: VolumeId
  readonly own: VolumeId
  /** Replicated from the victim to the hostile node. */
  readonly lent: VolumeId
  /** Texts that fill the files of the volumes. */
  readonly contents: readonly string[]
  /** The volume of each stream that btrfs was started for. */
  readonly received: string[]
  /** Data of the target on the honest node. */
  readonly data: string
  close(): Promise<void>
}

export type Attacker = 'hostile' | 'idle' | 'foreign' | 'stranger'

const identityOf = (): { identity: TlsIdentity; publicKeys: string[] } => {
  const { identityKey } = generateNodeKeys()
  return { identity: selfSignedIdentity(identityKey), publicKeys: [publicKeyText(identityKey)] }
}

export async function startHostileWorld(): Promise<HostileWorld> {
  const spawned: string[] = []
  const victim = await startPeerNode(await recordedPool(spawned))
  const [honest, hostile] = [await startPeerNode(), await startPeerNode()]
  const [target, own, lent] = [newVolumeId(), newVolumeId(), newVolumeId()]
  const folders = [
    await replicate(target, honest, victim),
    await replicate(own, hostile, victim),
    await replicate(lent, victim, hostile),
  ]
  const contents = folders.map((folder) => fill(folder))
  const idle = identityOf()
  const peers: Peer[] = [
    honest.peer,
    hostile.peer,
    { nodeId: newNodeId(), address: '127.0.0.1:9', publicKeys: idle.publicKeys },
  ]
  victim.peers.splice(0, victim.peers.length, ...peers)
  await copyOnce(honest, target)
  await copyOnce(hostile, own)
  await copyOnce(victim, lent)
  spawned.length = 0
  const received: string[] = []
  const { receive } = victim.home.pool
  Object.assign(victim.home.pool, {
    receive: (...[input, request]: Parameters<typeof receive>) => {
      const before = spawned.length
      return receive(input, request).finally(() => {
        if (spawned.length > before) received.push(request.volume)
      })
    },
  })
  const attackers = {
    hostile: hostile.identity,
    idle: idle.identity,
    foreign: identityOf().identity,
    stranger: identityOf().identity,
  }
  const close = async (): Promise<void> => {
    for (const node of [victim, honest, hostile]) await node.close()
  }
  const data = folders[0] ?? ''
  return { victim, honest, hostile, attackers, target, own, lent, contents, received, data, close }
}

/** A pool whose starts of `btrfs receive` are recorded. */
async function recordedPool(spawned: string[]): Promise<TestPool> {
  const home = await startPool()
  const commands: Commands = {
    run: systemCommands.run,
    start(file, args) {
      if (args.includes('receive')) spawned.push(args.join(' '))
      return systemCommands.start(file, args)
    },
  }
  return { ...home, pool: await home.open(commands) }
}

function fill(folder: string): string {
  const text = randomBytes(16).toString('hex')
  writeFileSync(join(folder, 'file'), text.repeat(2000))
  return text
}

/** Replicates the first checkpoint of a volume and ends the replication. */
async function copyOnce(primary: PeerNode, volume: VolumeId): Promise<void> {
  await primary.replication.check()
  const isCopied = (): boolean => primary.replication.measure(volume)?.[0]?.checkpoint !== undefined
  await waitUntil(isCopied, { what: 'the replica has the first checkpoint' })
  await primary.replication.close()
}

/** Every file of the pool with its checksum, every subvolume with its UUIDs, and what is left of streams. */
export function contentsOf({ home }: PeerNode): object {
  const subvolumes = runCommand('btrfs', ['subvolume', 'list', '-u', '-R', home.root])
  return {
    files: checksums(home.root),
    subvolumes: subvolumes.replaceAll(/ gen \d+ /g, ' ').split('\n'),
    incoming: readdirSync(join(home.root, 'incoming')),
  }
}

export function uuidsAt({ home }: PeerNode, path: string): Buffer[] {
  const shown = runCommand('btrfs', ['subvolume', 'show', join(home.root, path)])
  const found = [...shown.matchAll(/(?:\tUUID|Received UUID): \s*([0-9a-f-]{36})/g)]
  return found.map(([, uuid = '']) => Buffer.from(uuid.replaceAll('-', ''), 'hex'))
}
