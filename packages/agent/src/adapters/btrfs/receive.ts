// Receives a checkpoint of another node. It is built in `incoming` and gets its place by one rename after every check, so
// an interrupted or wrong receive is never listed as a checkpoint.

import { randomUUID } from 'node:crypto'
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  PoolError,
  type ReceiveRequest,
  type StreamDigest,
  type VolumePool,
} from '../../ports/volume-pool.ts'
import { createStreamCheck, type StreamRules } from './check-stream.ts'
import { folderOf, nameOf } from './checkpoints.ts'
import type { Commands } from './commands.ts'
import type { Subvolume } from './decode-output.ts'
import { FOLDERS, type PoolTree } from './pool-tree.ts'
import { receiveStream } from './transfer.ts'

export function createReceiver(commands: Commands, tree: PoolTree): Pick<VolumePool, 'receive'> {
  return {
    async receive(input, request) {
      const incoming = join(FOLDERS.incoming, randomUUID())
      try {
        await mkdir(tree.at(incoming), { mode: 0o700 })
        await receiveInto(commands, tree, incoming, input, request)
      } catch (error) {
        // If this fails too, the next start of the agent removes the leftovers.
        await removeIncoming(tree, incoming).catch(() => {})
        throw error
      }
    },
  }
}

async function receiveInto(
  commands: Commands,
  tree: PoolTree,
  incoming: string,
  input: AsyncIterable<Buffer>,
  request: ReceiveRequest,
): Promise<void> {
  const place = tree.at(folderOf(request.volume, request))
  const check = createStreamCheck(await rulesFor(tree, request))
  const receiver = commands.start('btrfs', ['receive', '-q', '--chroot', tree.at(incoming)])
  const received = await receiveStream(receiver, input, request.maxBytes, check)
  requireSame(received, await request.digest())
  await requireComplete(tree, incoming, nameOf(request))
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  await rename(tree.at(incoming), place)
  await tree.flush()
}

async function rulesFor(tree: PoolTree, request: ReceiveRequest): Promise<StreamRules> {
  const isBelow = (folder: string) => (one: Subvolume) => one.path.startsWith(`${folder}/`)
  // A receive of the same checkpoint that failed a moment ago may not be removed yet.
  const settled = (await tree.listAny()).filter((one) => !isBelow(FOLDERS.incoming)(one))
  const isOwn = isBelow(join(FOLDERS.checkpoints, request.volume))
  const own = settled.filter(isOwn)
  const others = settled.filter((one) => !isOwn(one))
  return {
    name: nameOf(request),
    own: uuidsOf(own),
    others: uuidsOf(others),
    async isPlainPath(uuid, path) {
      const sources = own.filter((one) => uuidsOf([one]).has(uuid))
      const plain = await Promise.all(sources.map((one) => isPlain(tree.at(one.path), path)))
      return plain.every(Boolean)
    },
  }
}

/**
 * btrfs opens the source of a clone from the root of the pool and not from the folder to which it is confined, so a
 * symbolic link in a checkpoint could lead to another volume. Checkpoints are read-only: the answer remains valid.
 */
async function isPlain(folder: string, path: Buffer): Promise<boolean> {
  const below = (parent: string): Buffer => Buffer.concat([Buffer.from(`${parent}/`), path])
  const real = await realpath(below(folder), 'buffer')
  return real.equals(below(await realpath(folder)))
}

function uuidsOf(subvolumes: readonly Subvolume[]): Set<string> {
  const all = subvolumes.flatMap(({ uuid, receivedUuid }) => [uuid, receivedUuid ?? uuid])
  return new Set(all.map((uuid) => uuid.replaceAll('-', '')))
}

/** btrfs checks its own checksums of 32 bits, which an attacker can compute; only the digest proves the sender's bytes. */
function requireSame(received: StreamDigest, sent: StreamDigest): void {
  if (received.bytes === sent.bytes && received.sha256 === sent.sha256) return
  throw new PoolError(
    'corrupt',
    `Received ${received.bytes} bytes with SHA-256 ${received.sha256}; sent were ${sent.bytes} with ${sent.sha256}.`,
  )
}

async function requireComplete(tree: PoolTree, incoming: string, name: string): Promise<void> {
  const entries = await readdir(tree.at(incoming))
  const found = (await tree.listReadOnly()).find(({ path }) => path === join(incoming, name))
  if (entries.length === 1 && found?.receivedUuid !== undefined) return
  throw new PoolError('corrupt', `The stream does not hold exactly the checkpoint ${name}.`)
}

async function removeIncoming(tree: PoolTree, incoming: string): Promise<void> {
  await tree.deleteBelow(incoming)
  await rm(tree.at(incoming), { recursive: true, force: true })
}
