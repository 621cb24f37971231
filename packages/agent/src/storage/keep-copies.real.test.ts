// Copies of volumes on a real btrfs pool, from desired copies to subvolumes, across restarts and kills of the agent.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { DesiredCopy } from '@holdfast/contract'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  commandsUntil,
  LONG,
  MIB,
  startPool,
  type TestPool,
  unmountBelow,
} from '../adapters/btrfs/pool.fixture.ts'
import { desiredCopy, type KeptCopies, keepCopies } from './copies.fixture.ts'

let home: TestPool
let started: KeptCopies[] = []
beforeAll(async () => {
  home = await startPool()
})
afterAll(() => home.remove())
afterEach(async () => {
  for (const keeper of started) await keeper.close()
  started = []
  for (const { volume } of (await home.pool.list()).volumes) await home.pool.remove(volume)
  for (const name of (await home.pool.readNotes()).keys()) await home.pool.removeNote(name)
})

async function start(open: () => ReturnType<TestPool['open']> = () => home.open()): Promise<KeptCopies> {
  const keeper = await keepCopies(open)
  started.push(keeper)
  return keeper
}
const pathOf = (keeper: KeptCopies, { volume }: DesiredCopy): string => keeper.mountPoint(volume)?.path ?? ''
const fill = (path: string, mib: number): void => writeFileSync(path, randomBytes(mib * MIB))
/** EDQUOT; Node has no name for this error. */
const EDQUOT = expect.objectContaining({ errno: -122 })
const removed = (copy: DesiredCopy): DesiredCopy => ({ ...copy, desired: 'removed' })

test('creates a primary with twice its size as limit, resizes it, and removes it without a trace', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  let changes = 0
  keeper.onChange(() => {
    changes += 1
  })
  await keeper.send([copy])
  expect(keeper.reports).toEqual([
    { volume: copy.volume, epoch: 1, state: 'present', sizeBytes: 16 * MIB, reason: '' },
  ])
  expect(keeper.mountPoint(copy.volume)).toEqual({
    path: join(home.folder, 'volumes', copy.volume),
    epoch: 1,
  })
  writeFileSync(join(pathOf(keeper, copy), 'x'), 'data')
  await keeper.send([{ ...copy, sizeBytes: 24 * MIB, mayCreate: false }])
  expect(keeper.reports.at(-1)).toMatchObject({ state: 'present', sizeBytes: 24 * MIB })
  expect((await home.pool.list()).volumes).toMatchObject([{ volume: copy.volume, limitBytes: 48 * MIB }])
  expect([keeper.reports.length, changes]).toEqual([2, 1])

  await keeper.send([removed(copy)])
  expect(keeper.stateOf(copy)).toBe('removed')
  expect(keeper.mountPoint(copy.volume)).toBeUndefined()
  await keeper.send([], { complete: false, goneCopies: [copy.volume] })
  expect(keeper.observed()).toEqual([])
  for (const folder of ['volumes', 'checkpoints', 'incoming'])
    expect(readdirSync(join(home.root, folder)), folder).toEqual([])
  expect([...(await home.pool.readNotes()).keys()]).not.toContain(copy.volume)
  expect(readdirSync(join(home.folder, 'volumes'))).toEqual([])
})

test('never creates a primary again that the pool has lost, and ignores an outdated epoch', async () => {
  const copy = desiredCopy({ epoch: 3 })
  await (await start()).send([copy])
  await home.pool.retire(copy.volume)
  const keeper = await start()
  await keeper.send([copy])
  expect(keeper.stateOf(copy)).toBe('failed content_missing')
  expect(keeper.mountPoint(copy.volume)).toBeUndefined()
  expect((await home.pool.list()).volumes).toEqual([])

  const other = desiredCopy({ mayCreate: false })
  await keeper.send([other, copy])
  expect(keeper.stateOf(other)).toBe('failed content_missing')
  const again = await start()
  await again.send([{ ...copy, epoch: 2 }])
  expect(again.observed()).toEqual([])
  expect(again.logged.join()).toContain('outdated copy ignored')
})

test('leaves copies that are not desired, and names them in its log', async () => {
  const [kept, other] = [desiredCopy(), desiredCopy()]
  const keeper = await start()
  await keeper.send([kept, other])
  writeFileSync(join(pathOf(keeper, other), 'x'), 'data')
  await keeper.send([kept])
  await keeper.check()
  expect(readFileSync(join(home.root, 'volumes', other.volume, 'x'), 'utf8')).toBe('data')
  expect(keeper.mountPoint(other.volume)).toBeUndefined()
  expect(keeper.logged.filter((line) => line.includes('copies not desired'))).toHaveLength(1)
  await keeper.send([kept, other])
  expect(keeper.stateOf(other)).toBe('present')
})

test('waits for a user of the volume before it removes it', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([copy])
  const used = openSync(join(pathOf(keeper, copy), 'x'), 'w')
  await keeper.send([removed(copy)])
  expect(keeper.stateOf(copy)).toBe('pending busy')
  expect(existsSync(join(home.root, 'volumes', copy.volume, 'x'))).toBe(true)
  closeSync(used)
  await keeper.check()
  expect(keeper.stateOf(copy)).toBe('removed')
})

test('keeps a replica pending until its first checkpoint, and makes it a primary with that content', async () => {
  const keeper = await start()
  const copy = desiredCopy({ role: 'replica', mayCreate: false })
  await keeper.send([copy])
  expect(keeper.stateOf(copy)).toBe('pending no_checkpoint')
  const from = { epoch: 1, number: 4 }
  await receiveCheckpoint(copy, from)
  await keeper.check()
  expect(keeper.observed()).toMatchObject([{ state: 'present', checkpoint: from, sizeBytes: 16 * MIB }])
  expect(keeper.mountPoint(copy.volume)).toBeUndefined()
  await keeper.send([{ ...copy, role: 'primary', epoch: 2, from }])
  expect(keeper.stateOf(copy)).toBe('present')
  expect(readFileSync(join(pathOf(keeper, copy), 'x'), 'utf8')).toBe('first')
  writeFileSync(join(pathOf(keeper, copy), 'x'), 'second')
  const again = await start()
  await again.send([{ ...copy, role: 'primary', epoch: 2, from }])
  expect(readFileSync(join(pathOf(again, copy), 'x'), 'utf8')).toBe('second')
})

/** Puts a checkpoint with one file into the pool. */
async function receiveCheckpoint(
  { volume }: DesiredCopy,
  at: { epoch: number; number: number },
): Promise<void> {
  writeFileSync(join(await home.pool.provision(volume, 32 * MIB), 'x'), 'first')
  await home.pool.takeCheckpoint(volume, at)
  await home.pool.retire(volume)
}

test('a writer past its limit gets EDQUOT, and a full pool refuses new copies while the others continue', async () => {
  const small = await startPool(128 * MIB)
  try {
    const keeper = await start(() => small.open())
    const [large, other] = [desiredCopy({ sizeBytes: 64 * MIB }), desiredCopy()]
    await keeper.send([large, other])
    expect(() => fill(join(pathOf(keeper, other), 'x'), 40)).toThrow(EDQUOT)
    writeFileSync(join(pathOf(keeper, large), 'kept'), 'data')
    expect(() => fill(join(pathOf(keeper, large), 'x'), 120)).toThrow(/ENOSPC|EDQUOT|errno -122/)
    await keeper.pool.check()
    const late = desiredCopy()
    await keeper.send([large, other, late])
    expect([large, other, late].map(keeper.stateOf)).toEqual(['present', 'present', 'failed no_room'])

    unmountBelow(small.folder)
    const again = await start(() => small.open())
    await again.send([large, other, late])
    expect([large, other, late].map(again.stateOf)).toEqual(['present', 'present', 'failed no_room'])
    expect(readFileSync(join(pathOf(again, large), 'kept'), 'utf8')).toBe('data')
    await again.send([removed(large), other, late])
    await again.pool.check()
    await again.check()
    expect([large, other, late].map(again.stateOf)).toEqual(['removed', 'present', 'present'])
    await again.close()
    await keeper.close()
  } finally {
    small.remove()
  }
})

test('measures each copy within 1 % of the quota group, and keeps the highest usage of the day', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([copy])
  fill(join(pathOf(keeper, copy), 'x'), 12)
  await keeper.pool.check()
  await keeper.check()
  const [measured] = keeper.measurements()
  expect(measured).toMatchObject({ volume: copy.volume, measuredAt: expect.stringMatching(/^20.*Z$/) })
  const groups = runCommand('btrfs', [
    'qgroup',
    'show',
    '--raw',
    '-f',
    join(home.root, 'volumes', copy.volume),
  ])
  const referenced = Number(groups.trim().split('\n').at(-1)?.trim().split(/\s+/)[1])
  expect(Math.abs((measured?.usedBytes ?? 0) / referenced - 1)).toBeLessThan(0.01)
  writeFileSync(join(pathOf(keeper, copy), 'x'), '')
  await keeper.pool.check()
  await keeper.check()
  expect(keeper.measurements()[0]?.usedBytes).toBeLessThan(MIB)
  const note = JSON.parse((await home.pool.readNotes()).get('daily-usage') ?? '')
  expect(Object.values(note.volumes[copy.volume])).toEqual([measured?.usedBytes])
})

test('reports the fault of a pool that is missing, and the copies again once it is back', async () => {
  const keeper = await start()
  const copy = desiredCopy()
  await keeper.send([copy])
  renameSync(home.file, `${home.file}.away`)
  await keeper.pool.check()
  await keeper.check()
  expect(keeper.observed()).toMatchObject([{ state: 'failed', reason: 'pool_missing', sizeBytes: 16 * MIB }])
  expect(keeper.mountPoint(copy.volume)).toBeUndefined()
  renameSync(`${home.file}.away`, home.file)
  await keeper.pool.check()
  await keeper.check()
  expect(keeper.stateOf(copy)).toBe('present')
  expect(keeper.mountPoint(copy.volume)).toBeDefined()
})

const FROM = { epoch: 1, number: 1 }
const base = desiredCopy()
/** Desired copies, each with the state before it and a check of the state after it. */
const KILLED: readonly (readonly [string, DesiredCopy | undefined, DesiredCopy, string])[] = [
  ['creates', undefined, base, ''],
  ['resizes', base, { ...base, sizeBytes: 20 * MIB }, 'data'],
  ['removes', base, removed(base), ''],
  ['restores', { ...base, role: 'replica' }, { ...base, epoch: 2, from: FROM, mayCreate: false }, 'first'],
]

test.each(KILLED)(
  '%s a copy after the agent was killed behind any command',
  LONG,
  async (_name, before, after, text) => {
    let kills = 0
    for (let isDone = false; !isDone; kills += 1) {
      await prepare(before)
      const killed = await start(() => home.open(commandsUntil(kills)))
      await killed.send([after])
      isDone = ['present', 'removed'].includes(killed.stateOf(after) ?? '')
      await killed.close()

      const keeper = await start()
      await keeper.send([after])
      expect(keeper.stateOf(after), `after ${kills} commands`).toBe(after.desired)
      if (text !== '') expect(readFileSync(join(pathOf(keeper, after), 'x'), 'utf8')).toBe(text)
      expect(readdirSync(join(home.root, 'incoming'))).toEqual([])
      await keeper.send([removed({ ...after, epoch: 3 })])
      await keeper.send([])
      expect((await home.pool.list()).volumes).toEqual([])
      expect([...(await home.pool.readNotes()).keys()]).not.toContain(after.volume)
      await keeper.close()
    }
    expect(kills).toBeGreaterThan(4)
  },
)

async function prepare(copy: DesiredCopy | undefined): Promise<void> {
  if (copy === undefined) return
  if (copy.role === 'replica') await receiveCheckpoint(copy, FROM)
  const keeper = await start()
  await keeper.send([copy])
  expect(keeper.stateOf(copy)).toBe('present')
  if (copy.role === 'primary') writeFileSync(join(pathOf(keeper, copy), 'x'), 'data')
  await keeper.close()
}
