// Releases of volumes in the notes of a real pool: they survive the agent, and a handover between two nodes ends with one.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asNodeId, type DesiredCopy } from '@holdfast/contract'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { startPeerNode } from '../replication/peer-nodes.fixture.ts'
import { desiredCopy, type KeptCopies, keepCopies } from './copies.fixture.ts'

const TO = asNodeId('node_01JCPZ0000000000000000000A')
const LAST = { epoch: 1, number: 1 }
const RELEASED = { to: TO, checkpoint: LAST }

let home: TestPool
let started: { close(): Promise<void> }[] = []
beforeAll(async () => {
  home = await startPool()
})
afterAll(() => home.remove())
afterEach(async () => {
  for (const one of started) await one.close()
  started = []
})

async function start(pool = home): Promise<KeptCopies> {
  const keeper = await keepCopies(() => pool.open())
  started.push(keeper)
  return keeper
}
const noteOf = async ({ volume }: DesiredCopy, { pool } = home): Promise<unknown> =>
  JSON.parse((await pool.readNotes()).get(volume) ?? '{}')
const observed = (keeper: KeptCopies, { volume }: DesiredCopy) =>
  keeper.observed().find((one) => one.volume === volume)

test('keeps a release across restarts of the agent until another node is the primary', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([copy])
  await home.pool.takeCheckpoint(copy.volume, LAST)
  await keeper.send([{ ...copy, handOverTo: TO }])
  await keeper.release(copy.volume, RELEASED)
  expect(await noteOf(copy)).toMatchObject({ epoch: 1, released: RELEASED })
  await keeper.check()
  expect(keeper.isReleased(copy.volume)).toBe(true)
  expect(keeper.reports.at(-1)).toMatchObject({ volume: copy.volume, released: RELEASED })
  await keeper.close()

  const again = await start()
  // Even if the handover is not desired any longer, another node may already write the volume.
  await again.send([copy])
  expect([again.isReleased(copy.volume), again.mountPoint(copy.volume)]).toEqual([true, undefined])
  expect(observed(again, copy)).toMatchObject({ released: RELEASED })
  await again.send([{ ...copy, epoch: 2, role: 'replica', mayCreate: false }])
  expect(again.isReleased(copy.volume)).toBe(false)
  expect(observed(again, copy)).toMatchObject({ epoch: 2, state: 'present', checkpoint: LAST })
  expect((await home.pool.list()).volumes.map(({ volume }) => volume)).not.toContain(copy.volume)
})

test('mounts the same data again in the epoch after a canceled handover', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([copy])
  const path = keeper.mountPoint(copy.volume)?.path ?? ''
  writeFileSync(join(path, 'x'), 'kept')
  await home.pool.takeCheckpoint(copy.volume, LAST)
  await keeper.send([{ ...copy, handOverTo: TO }])
  await keeper.release(copy.volume, RELEASED)
  await keeper.send([{ ...copy, epoch: 2, mayCreate: false }])
  expect(observed(keeper, copy)).toMatchObject({ epoch: 2, state: 'present' })
  expect(observed(keeper, copy)).not.toHaveProperty('released')
  expect(keeper.mountPoint(copy.volume)).toEqual({ path, epoch: 2 })
  expect([keeper.isReleased(copy.volume), keeper.liveEpoch(copy.volume)]).toEqual([false, 2])
  expect(readFileSync(join(path, 'x'), 'utf8')).toBe('kept')
})

test('drops a release that could not be written or whose handover was canceled', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([{ ...copy, handOverTo: TO }])
  const other = { to: TO, checkpoint: { epoch: 2, number: 1 } }
  await expect(keeper.release(copy.volume, other)).rejects.toThrow('not of the epoch')

  renameSync(home.file, `${home.file}.away`)
  try {
    await keeper.pool.check()
    await expect(keeper.release(copy.volume, RELEASED)).rejects.toThrow('was not written')
  } finally {
    renameSync(`${home.file}.away`, home.file)
  }
  await keeper.pool.check()
  await keeper.send([copy])
  await expect(keeper.release(copy.volume, RELEASED)).rejects.toThrow('canceled')
  expect(await noteOf(copy)).not.toHaveProperty('released')
  expect([keeper.isReleased(copy.volume), keeper.mountPoint(copy.volume)?.epoch]).toEqual([false, 1])

  await keeper.close()
  await expect(keeper.release(copy.volume, RELEASED)).rejects.toThrow('was not written')
})

test('hands a volume over to a peer and notes the release with the checkpoint that the peer has', async () => {
  const pool = await startPool()
  const keeper = await start(pool)
  const primary = await startPeerNode(pool, undefined, keeper)
  started.push(primary)
  const replica = await startPeerNode()
  started.push(replica)
  primary.peers.push(replica.peer)
  replica.peers.push(primary.peer)
  const copy = desiredCopy({ peers: [replica.id] })
  const moving = { ...copy, handOverTo: replica.id }
  replica.copies.set(copy.volume, { ...copy, role: 'replica', peers: [primary.id] })
  await keeper.send([copy])
  writeFileSync(join(keeper.mountPoint(copy.volume)?.path ?? '', 'x'), 'the last write')
  await keeper.send([moving])
  primary.copies.set(copy.volume, moving)
  await expect
    .poll(async () => {
      await primary.replication.check()
      await keeper.check()
      return keeper.isReleased(copy.volume)
    })
    .toBe(true)
  const { checkpoints } = await replica.home.pool.list()
  const newest = checkpoints.filter(({ volume }) => volume === copy.volume).at(-1)
  expect(newest).toBeDefined()
  const checkpoint = { epoch: newest?.epoch, number: newest?.number }
  expect(await noteOf(copy, pool)).toMatchObject({ released: { to: replica.id, checkpoint } })
  expect(observed(keeper, copy)).toMatchObject({ released: { to: replica.id, checkpoint } })
})
