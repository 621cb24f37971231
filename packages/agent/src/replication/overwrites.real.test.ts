// A volume that is 80 % full is overwritten again and again in blocks of 8 KiB, as databases do, while checkpoints are taken
// and sent. The extents of overwritten blocks stay in use for a while, but the writer never meets its quota, and
// the agent continues to measure the volume beside it.

import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@holdfast/testkit'
import { createRandom } from '@holdfast/testkit/hostile/random'
import { inRun } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemCommands } from '../adapters/btrfs/commands.ts'
import { checksums, MIB, startPool } from '../adapters/btrfs/pool.fixture.ts'
import { roundsOf } from '../fixtures/rounds.fixture.ts'
import { desiredCopy, type KeptCopies, keepCopies } from '../storage/copies.fixture.ts'
import { type PeerNode, startPeerNode } from './peer-nodes.fixture.ts'

const SIZE = inRun(40, 256) * MIB
const PASSES = roundsOf('overwrites', { fewest: 1, usual: 2, long: 10 })
const BLOCK = 8 * 1024
const BLOCKS = Math.floor((SIZE * 0.8) / BLOCK)
/** Writes between two fsyncs. */
const BATCH = 64
/** Milliseconds between rounds of the replication: as in production in a long run. */
const ROUND_MS = inRun(500, 5_000)

const copy = desiredCopy({ sizeBytes: SIZE })
const { volume } = copy
const neighbor = desiredCopy()
/**
 * The live data and two checkpoints of it, each with blocks of its own, need up to four times the size of the data, and a
 * small file system loses part of its room to the size of its chunks.
 */
const POOL = 8 * SIZE
let keeper: KeptCopies
let primary: PeerNode
let replica: PeerNode
beforeAll(async () => {
  const home = await startPool(POOL)
  keeper = await keepCopies(() => home.open())
  primary = await startPeerNode(home, undefined, keeper)
  replica = await startPeerNode(await startPool(POOL))
  primary.peers.push(replica.peer)
  replica.peers.push(primary.peer)
  const desired = { ...copy, peers: [replica.id] }
  primary.copies.set(volume, desired)
  replica.copies.set(volume, { ...copy, role: 'replica', peers: [primary.id] })
  await keeper.send([desired, neighbor])
})
afterAll(async () => {
  await keeper?.close()
  for (const node of [primary, replica]) await node?.close()
})

/** Overwrites random blocks of the file; returns once all of them are on disk. */
async function overwrite(path: string): Promise<void> {
  const random = createRandom(80)
  const file = await open(path, 'r+')
  try {
    for (let count = 1; count <= BLOCKS * PASSES; count += 1) {
      writeSync(file.fd, randomBytes(BLOCK), 0, BLOCK, random.below(BLOCKS) * BLOCK)
      if (count % BATCH === 0) await file.sync()
    }
  } finally {
    await file.close()
  }
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  for (let block = 0; block < BLOCKS; block += 1) await file.write(randomBytes(BLOCK))
  await file.sync()
  await file.close()
}

const newestOf = async ({ home }: PeerNode): Promise<number> =>
  Math.max(0, ...(await home.pool.list()).checkpoints.map(({ number }) => number))

test.concurrent('reports the usage of a volume within 60 s and within 1 % of its quota group', {
  timeout: 120_000,
}, async () => {
  const path = keeper.mountPoint(neighbor.volume)?.path ?? ''
  await writeFile(join(path, 'file'), randomBytes(12 * MIB))
  const measured = (): number =>
    keeper.measurements().find((one) => one.volume === neighbor.volume)?.usedBytes ?? 0
  await waitUntil(() => measured() > 11 * MIB, { what: 'the new usage is measured', timeoutMs: 60_000 })
  const groups = await systemCommands.run('btrfs', ['qgroup', 'show', '--raw', '-f', path])
  const referenced = Number(groups.trim().split('\n').at(-1)?.trim().split(/\s+/)[1])
  expect(Math.abs(measured() / referenced - 1)).toBeLessThan(0.01)
})

test.concurrent(`a volume of ${SIZE / MIB} MiB, 80 % full, is overwritten ${PASSES} times in 8 KiB blocks`, {
  timeout: inRun(120_000, 3_600_000),
}, async () => {
  const path = join(keeper.mountPoint(volume)?.path ?? '', 'file')
  await fill(path)
  let [isDone, highest] = [false, 0]
  const writing = overwrite(path).finally(() => {
    isDone = true
  })
  while (!isDone) {
    primary.clockMs += ROUND_MS
    await primary.replication.check()
    const found = (await primary.home.pool.list()).volumes.find((one) => one.volume === volume)
    highest = Math.max(highest, (found?.usedBytes ?? 0) / SIZE)
    await Promise.race([writing.catch(() => {}), delay(ROUND_MS)])
  }
  // A write beyond the quota rejects with EDQUOT.
  await writing
  const checkpoints = await newestOf(primary)
  expect(checkpoints).toBeGreaterThan(0)
  expect(highest).toBeGreaterThan(0.8)
  let compared = 0
  await waitUntil(
    async () => {
      primary.clockMs += ROUND_MS
      await primary.replication.check()
      const number = await newestOf(replica)
      if (number === compared || number !== (await newestOf(primary))) return false
      compared = number
      const copied = checksums(join(replica.home.root, `checkpoints/${volume}/1.${number}/1.${number}`))
      return copied['/file'] === checksums(join(path, '..'))['/file']
    },
    { what: 'the replica has the last content', timeoutMs: inRun(60_000, 600_000), intervalMs: 500 },
  )
  console.log(
    `overwrites: ${PASSES} passes, ${checkpoints} checkpoints, at most ${highest.toFixed(2)} of the size in use`,
  )
})
