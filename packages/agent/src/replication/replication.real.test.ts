// Replication between nodes with real pools and real connections: copies equal their source, idle volumes send no bytes,
// and a handover releases the volume only after the last checkpoint has arrived.

import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { VolumeId } from '@holdfast/contract'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { checksums, MIB } from '../adapters/btrfs/pool.fixture.ts'
import { newVolumeId, type PeerNode, replicate, SIZE, startPeerNode } from './peer-nodes.fixture.ts'

let primary: PeerNode
let replica: PeerNode
let third: PeerNode
let volume: VolumeId
let data: string
beforeAll(async () => {
  ;[primary, replica, third] = [await startPeerNode(), await startPeerNode(), await startPeerNode()]
})
afterAll(async () => {
  for (const node of [primary, replica, third]) await node.close()
})
beforeEach(async () => {
  for (const node of [primary, replica, third]) {
    node.copies.clear()
    node.groups.length = 0
  }
  volume = newVolumeId()
  data = await replicate(volume, primary, replica)
  mkdirSync(join(data, 'folder'))
  writeFileSync(join(data, 'folder/large'), randomBytes(2 * MIB))
  writeFileSync(join(data, 'small'), 'first')
})

const heldBy = async ({ home }: PeerNode, of = volume): Promise<string[]> =>
  (await home.pool.list()).checkpoints
    .filter((one) => one.volume === of)
    .map(({ epoch, number }) => `${epoch}.${number}`)
    .toSorted()

const contentOf = ({ home }: PeerNode, name: string, of = volume) =>
  checksums(join(home.root, `checkpoints/${of}/${name}/${name}`))

/** Runs rounds until the replica has a checkpoint and nothing is left to send. */
async function settle(name: string, at = replica, of = volume): Promise<void> {
  await primary.replication.check()
  await expect.poll(() => heldBy(at, of)).toContain(name)
  await expect
    .poll(() => primary.replication.measure(of)?.find(({ nodeId }) => nodeId === at.id)?.checkpoint)
    .toMatchObject({ number: Number(name.split('.')[1]) })
}

const stateOf = (node = replica, of = volume) =>
  primary.replication.replicas(of)?.find(({ nodeId }) => nodeId === node.id)?.state

test('copies a volume in full and then its changes, keeps two checkpoints, and every file is equal', async () => {
  await settle('1.1')
  expect(contentOf(replica, '1.1')).toEqual(checksums(data))
  for (const number of [2, 3, 4]) {
    writeFileSync(join(data, 'small'), `change ${number}`)
    writeFileSync(join(data, `folder/new-${number}`), randomBytes(MIB))
    rmSync(join(data, `folder/new-${number - 1}`), { force: true })
    await settle(`1.${number}`)
    expect(contentOf(replica, `1.${number}`)).toEqual(checksums(data))
  }
  await expect.poll(() => heldBy(replica)).toEqual(['1.3', '1.4'])
  await primary.replication.check()
  expect(await heldBy(primary)).toEqual(['1.4'])
  expect(stateOf()).toBe('current')
})

test('sends only the changes since the last acknowledged checkpoint', async () => {
  await settle('1.1')
  writeFileSync(join(data, 'small'), 'second')
  await settle('1.2')
  const [full, changes] = primary.streams.filter((one) => one.volume === volume)
  expect(full).toMatchObject({ base: undefined })
  expect(full?.bytes).toBeGreaterThan(2 * MIB)
  expect(changes).toMatchObject({ base: { epoch: 1, number: 1 } })
  expect(changes?.bytes).toBeLessThan(10_000)
})

test('sends no bytes of an idle volume, and its replica stays current', async () => {
  await settle('1.1')
  const sent = primary.streams.length
  for (let minute = 0; minute < 3; minute += 1) {
    primary.clockMs += 60_000
    expect(stateOf()).toBe('lagging')
    await primary.replication.check()
    await expect.poll(() => stateOf()).toBe('current')
    expect(primary.replication.measure(volume)).toEqual([
      { nodeId: replica.id, checkpoint: { epoch: 1, number: 1 }, age: 0 },
    ])
  }
  expect(primary.streams.length).toBe(sent)
  expect(await heldBy(replica)).toEqual(['1.1'])
})

test('returns a checkpoint with everything written before the call, and none that no replica can receive', async () => {
  await settle('1.1')
  const acknowledged = () => primary.replication.measure(volume)?.[0]?.checkpoint
  const sent = primary.streams.length
  // An idle volume needs no new checkpoint: the replica has everything.
  expect((await primary.replication.checkpoint()).get(volume)).toEqual({ epoch: 1, number: 1 })
  expect([acknowledged(), primary.streams.length]).toEqual([{ epoch: 1, number: 1 }, sent])

  writeFileSync(join(data, 'small'), 'the new password')
  expect((await primary.replication.checkpoint()).get(volume)).toEqual({ epoch: 1, number: 2 })
  await expect.poll(acknowledged).toEqual({ epoch: 1, number: 2 })
  expect(contentOf(replica, '1.2')).toEqual(checksums(data))

  replica.copies.delete(volume)
  primary.clockMs += 41_000
  await primary.replication.check()
  writeFileSync(join(data, 'small'), 'newer than every checkpoint')
  expect((await primary.replication.checkpoint()).get(volume)).toBeUndefined()
})

test('reports a replica when its state changes, and not otherwise', async () => {
  await settle('1.1')
  await expect.poll(() => stateOf()).toBe('current')
  const before = primary.changes.length
  await primary.replication.check()
  await primary.replication.check()
  expect(primary.changes.length).toBe(before)
  replica.copies.delete(volume)
  primary.clockMs += 20_000
  await primary.replication.check()
  expect(primary.changes.slice(before)).toEqual([volume])
  expect(stateOf()).toBe('lagging')
})

test('takes no more checkpoints for a replica that is silent, and continues with the changes', async () => {
  await settle('1.1')
  replica.copies.delete(volume)
  for (let round = 0; round < 4; round += 1) {
    writeFileSync(join(data, 'small'), `round ${round}`)
    primary.clockMs += 41_000
    await primary.replication.check()
  }
  const taken = (await heldBy(primary)).length
  expect(taken).toBeLessThanOrEqual(2)
  await replicate(volume, primary, replica)
  await expect.poll(catchUp).toEqual(checksums(data))
  expect(primary.streams.at(-1)?.base).toEqual({ epoch: 1, number: 1 })
})

let rounds = 0
/** Runs a round in which failed streams are due again, and returns the content of the replica's newest checkpoint. */
async function catchUp(): Promise<{ [path: string]: string }> {
  // The rounds between two jumps of the clock hear from the replica.
  rounds += 1
  if (rounds % 5 === 0) primary.clockMs += 301_000
  await primary.replication.check()
  const newest = (await heldBy(replica)).at(-1)
  return newest === undefined ? {} : contentOf(replica, newest)
}

test('serves two replicas, and seeds a new one in full beside a current one', async () => {
  await settle('1.1')
  await replicate(volume, primary, replica, third)
  await settle('1.1', third)
  expect(contentOf(third, '1.1')).toEqual(contentOf(replica, '1.1'))
  writeFileSync(join(data, 'small'), 'both')
  await settle('1.2')
  await settle('1.2', third)
  expect(primary.streams.slice(-2).map(({ base }) => base)).toEqual([
    { epoch: 1, number: 1 },
    { epoch: 1, number: 1 },
  ])
})

test('freezes the writer of two volumes across both checkpoints, which get the same number', async () => {
  const other = newVolumeId()
  await settle('1.1')
  writeFileSync(join(await replicate(other, primary, replica), 'file'), 'other')
  await settle('1.1', replica, other)
  expect(primary.frozen).toEqual([])
  primary.groups.push([volume, other])
  writeFileSync(join(data, 'small'), 'second')
  await settle('1.2')
  await settle('1.2', replica, other)
  expect(primary.frozen).toEqual(['freeze 2', 'thaw'])
})

test('never uses a number twice, even if all checkpoints were dropped', async () => {
  await settle('1.1')
  for (const { pool } of [primary.home, replica.home])
    await pool.removeCheckpoint(volume, { epoch: 1, number: 1 })
  writeFileSync(join(data, 'small'), 'second')
  await expect.poll(catchUp).toEqual(checksums(data))
  expect(await heldBy(replica)).toEqual(['1.2'])
})

test('sends the whole checkpoint if the replica cannot apply changes to its base', async () => {
  await settle('1.1')
  // A base with the same name but of another origin.
  await replica.home.pool.removeCheckpoint(volume, { epoch: 1, number: 1 })
  await replica.home.pool.provision(volume, 16 * MIB)
  await replica.home.pool.takeCheckpoint(volume, { epoch: 1, number: 1 })
  writeFileSync(join(data, 'small'), 'second')
  await expect.poll(catchUp).toEqual(checksums(data))
  const bases = primary.streams.filter((one) => one.volume === volume).map(({ base }) => base?.number)
  expect(bases).toEqual([undefined, 1, undefined])
})

test('sends no bytes to a replica whose pool is full, and continues when it has room', async () => {
  await settle('1.1')
  const file = join(replica.home.root, 'filler')
  const { poolBytes, usedBytes } = await replica.home.pool.inspect()
  runCommand('fallocate', ['--length', String(poolBytes - usedBytes - 2 * MIB), file])
  await replica.home.pool.flush()
  const sent = primary.streams.length
  writeFileSync(join(data, 'small'), 'second')
  await primary.replication.check()
  await expect.poll(() => primary.logged.some((line) => line.includes('no_room'))).toBe(true)
  expect(primary.streams.length).toBe(sent)
  rmSync(file)
  await replica.home.pool.flush()
  await expect.poll(catchUp).toEqual(checksums(data))
})

test('hands over after the last writer is gone, with exactly the last state', async () => {
  await settle('1.1')
  const [copy, there] = [primary.copies.get(volume), replica.copies.get(volume)]
  if (copy === undefined || there === undefined) throw new Error('no copy')
  primary.copies.set(volume, { ...copy, handOverTo: replica.id })
  primary.written.add(volume)
  writeFileSync(join(data, 'small'), 'while the writer runs')
  await settle('1.2')
  await primary.replication.check()
  expect(primary.released.size).toBe(0)
  writeFileSync(join(data, 'small'), 'the last write')
  primary.written.clear()
  await expect
    .poll(async () => {
      await primary.replication.check()
      return primary.released.get(volume)
    })
    .toEqual({ to: replica.id, checkpoint: { epoch: 1, number: 3 } })
  expect(contentOf(replica, '1.3')).toEqual(checksums(data))
  // The released volume gets no more checkpoints, whatever is written to it.
  writeFileSync(join(data, 'small'), 'too late')
  await primary.replication.check()
  expect(await heldBy(primary)).not.toContain('1.4')

  // The successor replicates back, from the checkpoint that both have.
  replica.copies.set(volume, { ...there, epoch: 2, role: 'primary', peers: [primary.id] })
  primary.copies.set(volume, { ...copy, epoch: 2, role: 'replica', peers: [replica.id] })
  await replica.home.pool.restore(volume, { epoch: 1, number: 3 })
  writeFileSync(join(await replica.home.pool.provision(volume, 2 * SIZE), 'small'), 'from the successor')
  await replica.replication.check()
  await expect.poll(() => heldBy(primary)).toContain('2.4')
  expect(contentOf(primary, '2.4')).toEqual(contentOf(replica, '2.4'))
  expect(replica.streams.at(-1)?.base).toEqual({ epoch: 1, number: 3 })
})
