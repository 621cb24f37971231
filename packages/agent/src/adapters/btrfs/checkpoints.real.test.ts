// Checkpoints between two pools on a real btrfs: full and incremental streams, streams that are cut, and leftovers.

import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { VolumeCheckpoint } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ReceiveRequest, StreamDigest, VolumePool } from '../../ports/volume-pool.ts'
import { checksums, commandsUntil, Killed, LONG, MIB, startPool, type TestPool } from './pool.fixture.ts'
import { checkpointStream, cloneFrom, command, streamOf } from './send-stream.fixture.ts'

const FIRST = { epoch: 1, number: 1 }
const SECOND = { epoch: 1, number: 2 }
const MAX_BYTES = 64 * MIB

let from: TestPool
let to: TestPool
let count = 0
let volume = ''
let data = ''
beforeAll(async () => {
  ;[from, to] = [await startPool(), await startPool()]
})
afterAll(() => {
  from.remove()
  to.remove()
})
beforeEach(async () => {
  for (const { pool } of [from, to]) if (volume !== '') await pool.remove(volume)
  count += 1
  volume = `vol_${count}`
  data = await from.pool.provision(volume, 128 * MIB)
  mkdirSync(join(data, 'folder'))
  writeFileSync(join(data, 'folder/large'), randomBytes(2 * MIB))
  writeFileSync(join(data, 'small'), 'first')
  symlinkSync('small', join(data, 'link'))
  await from.pool.takeCheckpoint(volume, FIRST)
})

function changeData(): void {
  writeFileSync(join(data, 'small'), 'second')
  writeFileSync(join(data, 'folder/new'), randomBytes(MIB))
  rmSync(join(data, 'folder/large'))
}

const request = (checkpoint: VolumeCheckpoint, digest: Promise<StreamDigest>): ReceiveRequest => ({
  volume,
  ...checkpoint,
  maxBytes: MAX_BYTES,
  digest: () => digest,
})

async function copy(checkpoint: VolumeCheckpoint, base?: VolumeCheckpoint): Promise<number> {
  const { stream, digest } = from.pool.send(volume, checkpoint, base)
  await to.pool.receive(stream, request(checkpoint, digest))
  return (await digest).bytes
}

const contentOf = ({ root }: TestPool, { epoch, number }: VolumeCheckpoint) =>
  checksums(join(root, `checkpoints/${volume}/${epoch}.${number}/${epoch}.${number}`))

test('copies a checkpoint in full and then only its changes, with every file equal', async () => {
  const full = await copy(FIRST)
  expect(contentOf(to, FIRST)).toEqual(contentOf(from, FIRST))
  changeData()
  await from.pool.takeCheckpoint(volume, SECOND)
  const changes = await copy(SECOND, FIRST)
  expect(contentOf(to, SECOND)).toEqual(contentOf(from, SECOND))
  expect(Object.keys(contentOf(to, SECOND))).toHaveLength(2)
  expect(changes).toBeLessThan(full)
  await to.pool.flush()
  const [usedBytes, generation] = [expect.closeTo(2 * MIB, -5), expect.any(Number)]
  expect((await to.pool.list()).checkpoints).toEqual([
    { volume, ...FIRST, origin: 'received', generation, usedBytes },
    { volume, ...SECOND, origin: 'received', generation, usedBytes: expect.closeTo(MIB, -5) },
  ])
  expect((await from.pool.list()).checkpoints.map(({ origin }) => origin)).toEqual(['taken', 'taken'])
})

test('gives a checkpoint the generation of its volume, which only a write raises', async () => {
  const generations = async () => {
    await from.pool.flush()
    const { volumes, checkpoints } = await from.pool.list()
    const ofVolume = volumes.find((one) => one.volume === volume)?.generation ?? 0
    return [ofVolume, ...checkpoints.map(({ generation }) => generation)]
  }
  const [unchanged, first] = await generations()
  expect(unchanged).toBe(first)
  await copy(FIRST)
  expect(checksums(data)).not.toEqual({})
  expect(await generations()).toEqual([first, first])
  changeData()
  const [changed] = await generations()
  expect(changed).toBeGreaterThan(first ?? 0)
  await from.pool.takeCheckpoint(volume, SECOND)
  const [after, , second] = await generations()
  expect(after).toBe(second)
})

test('restores a received checkpoint as a volume, whose later checkpoints go back as changes', async () => {
  await copy(FIRST)
  await to.pool.restore(volume, FIRST)
  const restored = await to.pool.provision(volume, 64 * MIB)
  expect(checksums(restored)).toEqual(checksums(data))
  writeFileSync(join(restored, 'small'), 'from the new primary')
  const later = { epoch: 2, number: 1 }
  await to.pool.takeCheckpoint(volume, later)
  const { stream, digest } = to.pool.send(volume, later, FIRST)
  await from.pool.receive(stream, request(later, digest))
  expect((await digest).bytes).toBeLessThan(MIB)
  expect(contentOf(from, later)).toEqual(checksums(restored))
})

test('lists no checkpoint of a stream that was cut at any byte, and leaves nothing of it', async () => {
  const sent = from.pool.send(volume, FIRST)
  const bytes = await buffer(sent.stream)
  const digest = await sent.digest
  const receiveUntil = (at: number): Promise<void> =>
    to.pool.receive(Readable.from([bytes.subarray(0, at)]), request(FIRST, Promise.resolve(digest)))
  const count = inRun(10, 300)
  const even = Array.from({ length: count }, (_, cut) => Math.floor((bytes.length * cut) / count))
  // The last command has 10 bytes: without it the stream ends between two commands.
  for (const at of [...even, bytes.length - 10, bytes.length - 1]) {
    await expect(receiveUntil(at), `cut at ${at} of ${bytes.length}`).rejects.toMatchObject({
      fault: 'interrupted',
    })
    expect((await to.pool.list()).checkpoints).toEqual([])
  }
  expect(readdirSync(join(to.root, 'incoming'))).toEqual([])
  await to.pool.receive(Readable.from([bytes]), request(FIRST, Promise.resolve(digest)))
  expect(contentOf(to, FIRST)).toEqual(contentOf(from, FIRST))
})

test('rejects a stream that is complete for btrfs but not what was sent', async () => {
  const { stream, digest } = from.pool.send(volume, FIRST)
  const bytes = await buffer(stream)
  const { sha256 } = await digest
  const other = Promise.resolve({
    bytes: bytes.length,
    sha256: sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  })
  const receiving = to.pool.receive(Readable.from([bytes]), request(FIRST, other))
  await expect(receiving).rejects.toMatchObject({ fault: 'corrupt' })
  const renamed = to.pool.receive(Readable.from([bytes]), request(SECOND, digest))
  await expect(renamed).rejects.toMatchObject({ fault: 'corrupt' })
  expect((await to.pool.list()).checkpoints).toEqual([])
})

test('rejects a stream beyond its limit, one that breaks, and one that is no stream of btrfs', async () => {
  const long = from.pool.send(volume, FIRST)
  const receiving = to.pool.receive(long.stream, { ...request(FIRST, long.digest), maxBytes: MIB })
  await expect(receiving).rejects.toMatchObject({ fault: 'full' })
  await expect(long.digest).rejects.toMatchObject({ name: 'PoolError' })
  const broken = new Readable({ read: () => broken.destroy(new Error('connection lost')) })
  const fault = to.pool.receive(broken, request(FIRST, long.digest))
  await expect(fault).rejects.toMatchObject({
    fault: 'interrupted',
    message: expect.stringContaining('lost'),
  })
  const nonsense = to.pool.receive(
    Readable.from([Buffer.from('nonsense'.repeat(9))]),
    request(FIRST, long.digest),
  )
  await expect(nonsense).rejects.toMatchObject({ fault: 'corrupt' })
  expect(readdirSync(join(to.root, 'incoming'))).toEqual([])
})

test('rejects a stream that copies data of another volume, or has its UUID', async () => {
  await copy(FIRST)
  const target = volume
  const other = `other_${count}`
  const secret = await to.pool.provision(other, 64 * MIB)
  writeFileSync(join(secret, 'small'), 'x'.repeat(4096))
  await to.pool.takeCheckpoint(other, FIRST)
  const taken = uuidAt(to, `checkpoints/${other}/1.1/1.1`)
  const received = uuidAt(to, `checkpoints/${target}/1.1/1.1`, 'Received UUID')
  const uuid = randomBytes(16)
  const snapshot = (cloneUuid: Buffer): Buffer =>
    streamOf(
      command('snapshot', { path: '1.2', uuid, ctransid: 9, cloneUuid, cloneCtransid: 9 }),
      command('end'),
    )
  const receive = (bytes: Buffer, into = target): Promise<void> => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const digest = Promise.resolve({ bytes: bytes.length, sha256 })
    return to.pool.receive(Readable.from([bytes]), { ...request(SECOND, digest), volume: into })
  }
  const corrupt = { fault: 'corrupt' }
  await expect(receive(snapshot(taken))).rejects.toMatchObject(corrupt)
  await expect(receive(snapshot(received), other)).rejects.toMatchObject(corrupt)
  const cloned = checkpointStream('1.2', uuid, cloneFrom(received, 'small'))
  await expect(receive(cloned, other)).rejects.toMatchObject(corrupt)
  await expect(receive(checkpointStream('1.2', received), other)).rejects.toMatchObject(corrupt)
  expect(readdirSync(join(to.root, 'incoming'))).toEqual([])
  // The same commands are accepted for the volume whose data they name.
  await receive(snapshot(received))
  expect(contentOf(to, SECOND)).toEqual(contentOf(to, FIRST))
  await to.pool.remove(other)
})

test('rejects a stream that reaches another volume through a symbolic link in an earlier checkpoint', async () => {
  const other = `other_${count}`
  const secret = await to.pool.provision(other, 64 * MIB)
  writeFileSync(join(secret, 'small'), 'x'.repeat(4096))
  await to.pool.takeCheckpoint(other, FIRST)
  symlinkSync(`../../../${other}/1.1/1.1`, join(data, 'way'))
  symlinkSync('../way/small', join(data, 'folder/file'))
  const odd = Buffer.from([0xff, 0x61])
  writeFileSync(Buffer.concat([Buffer.from(`${data}/`), odd]), 'x'.repeat(4096))
  await from.pool.takeCheckpoint(volume, SECOND)
  await copy(SECOND)
  const base = uuidAt(to, `checkpoints/${volume}/1.2/1.2`, 'Received UUID')
  const third = { epoch: 1, number: 3 }
  const receive = (uuid: Buffer, ...commands: Buffer[]): Promise<void> => {
    const bytes = checkpointStream('1.3', uuid, ...commands)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const digest = Promise.resolve({ bytes: bytes.length, sha256 })
    return to.pool.receive(Readable.from([bytes]), request(third, digest))
  }
  for (const path of ['way/small', 'folder/file', 'folder/../way/small'])
    await expect(receive(randomBytes(16), cloneFrom(base, path)), path).rejects.toMatchObject({
      fault: 'corrupt',
    })
  // btrfs opens files of the checkpoint that it receives in the folder to which it is confined.
  const uuid = randomBytes(16)
  for (const up of ['..', '../../..', '../../../..']) {
    const link = command('symlink', { path: 'way', ino: 301, pathLink: `${up}/checkpoints/${other}/1.1/1.1` })
    await expect(receive(uuid, link, cloneFrom(uuid, 'way/small')), up).rejects.toMatchObject({
      fault: 'failed',
    })
  }
  await receive(uuid, cloneFrom(base, 'folder/large'), cloneFrom(base, odd))
  await to.pool.remove(other)
})

function uuidAt({ root }: TestPool, path: string, name = '\tUUID'): Buffer {
  const shown = runCommand('btrfs', ['subvolume', 'show', join(root, path)])
  const [, uuid = ''] = new RegExp(`${name}: \\s*(\\S+)`).exec(shown) ?? []
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

test('reports the failure of a sender whose checkpoint does not exist', async () => {
  const { stream, digest } = from.pool.send(volume, SECOND)
  stream.resume()
  await expect(digest).rejects.toMatchObject({ failed: { exitCode: 1 } })
})

test(
  'takes, receives and removes checkpoints after the agent was killed behind any command',
  LONG,
  async () => {
    const receive = async (pool: VolumePool): Promise<void> => {
      const { stream, digest } = from.pool.send(volume, FIRST)
      // An agent that dies ends the stream.
      await pool.receive(stream, request(FIRST, digest)).finally(() => stream.destroy())
    }
    let kills = 0
    while (await isKilledAfter(kills, receive)) {
      const again = await to.open()
      expect(readdirSync(join(to.root, 'incoming'))).toEqual([])
      const isListed = (await again.list()).checkpoints.length === 1
      if (!isListed) await receive(again)
      expect(contentOf(to, FIRST)).toEqual(contentOf(from, FIRST))
      await again.removeCheckpoint(volume, FIRST)
      await again.removeCheckpoint(volume, FIRST)
      kills += 1
    }
    expect(kills).toBeGreaterThan(4)
  },
)

test('removes the folders of checkpoints that were never taken when the pool is opened again', async () => {
  await copy(FIRST)
  for (const folder of [`${volume}/1.9`, 'vol_empty/1.1'])
    mkdirSync(join(to.root, 'checkpoints', folder), { recursive: true })
  await to.open()
  expect(readdirSync(join(to.root, 'checkpoints'))).toEqual([volume])
  expect(readdirSync(join(to.root, 'checkpoints', volume))).toEqual(['1.1'])
  expect(contentOf(to, FIRST)).toEqual(contentOf(from, FIRST))
})

async function isKilledAfter(kills: number, work: (of: VolumePool) => Promise<void>): Promise<boolean> {
  try {
    await work(await to.open(commandsUntil(kills)))
    return false
  } catch (error) {
    if (error instanceof Killed) return true
    throw error
  }
}
