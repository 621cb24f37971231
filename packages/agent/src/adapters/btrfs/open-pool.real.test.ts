// Opening a pool on a real machine: creation, restarts, and pools that are missing, replaced or not what they should be.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, type TempFolder } from '@holdfast/testkit'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterEach, expect, test } from 'vitest'
import type { VolumePool } from '../../ports/volume-pool.ts'
import { openBtrfsPool } from './open-pool.ts'
import {
  commandsUntil,
  Killed,
  LONG,
  MIB,
  removePool,
  startPool,
  type TestPool,
  unmountBelow,
} from './pool.fixture.ts'

const SIZE = 128 * MIB
const pools: TestPool[] = []
const started = async (): Promise<TestPool> => {
  const home = await startPool(SIZE)
  pools.push(home)
  return home
}
const folders: TempFolder[] = []
const newFolder = (): TempFolder => {
  const folder = makeTempFolder('pool')
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) removePool(folder)
  for (const home of pools.splice(0)) home.remove()
})

test('creates a pool of the given size, allocated in full, and opens it again with its volumes', async () => {
  const home = await started()
  const { size, blocks } = statSync(home.file)
  expect([size, blocks * 512 >= SIZE]).toEqual([SIZE, true])
  const facts = await home.pool.inspect()
  expect(facts).toMatchObject({ poolBytes: SIZE, fileSystemId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  const threshold = `/sys/fs/btrfs/${facts.fileSystemId}/qgroups/drop_subtree_threshold`
  expect(readFileSync(threshold, 'utf8').trim()).toBe('8')

  writeFileSync(join(await home.pool.provision('vol_a', 16 * MIB), 'x'), 'kept')
  unmountBelow(home.folder)
  const again = await home.open()
  expect(await again.inspect()).toMatchObject({ fileSystemId: facts.fileSystemId })
  expect(readFileSync(join(await again.provision('vol_a', 16 * MIB), 'x'), 'utf8')).toBe('kept')
})

test('creates a pool after the agent was killed behind any command of its creation', LONG, async () => {
  let kills = 0
  for (let isKilled = true; isKilled; kills += 1) {
    const folder = newFolder()
    const source = { path: join(folder.path, 'pool.img'), sizeBytes: SIZE }
    isKilled = await openBtrfsPool(source, folder.path, commandsUntil(kills)).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    const pool = await openBtrfsPool(source, folder.path)
    expect(await pool.list()).toEqual({ volumes: [], checkpoints: [] })
  }
  expect(kills).toBeGreaterThan(4)
})

const faultOf = (opening: Promise<VolumePool>) =>
  opening.then(
    () => 'none',
    (error: { fault?: string }) => error.fault,
  )

test('creates no other pool where the file of its pool is missing, also while the pool is mounted', async () => {
  const home = await started()
  renameSync(home.file, `${home.file}.away`)
  await expect(home.pool.inspect()).rejects.toMatchObject({ fault: 'missing' })
  expect(await faultOf(home.open())).toBe('missing')
  unmountBelow(home.folder)
  expect(await faultOf(home.open())).toBe('missing')
  expect(existsSync(home.file)).toBe(false)
  renameSync(`${home.file}.away`, home.file)
  expect(await faultOf(home.open())).toBe('none')
})

test('notices a pool that was replaced by another file system, or by an emptied one', async () => {
  const [home, other] = [await started(), await started()]
  unmountBelow(home.folder)
  unmountBelow(other.folder)
  copyFileSync(home.file, `${home.file}.own`)
  copyFileSync(other.file, home.file)
  expect(await faultOf(home.open())).toBe('changed')
  renameSync(`${home.file}.own`, home.file)
  const opened = await home.open()
  rmSync(join(home.root, 'holdfast-pool.json'))
  await expect(opened.inspect()).rejects.toMatchObject({ fault: 'changed' })
  expect(await faultOf(home.open())).toBe('changed')
})

test('formats no file that it did not create, and no folder of another file system', async () => {
  const folder = newFolder()
  const path = join(folder.path, 'data.bin')
  writeFileSync(path, 'precious')
  expect(await faultOf(openBtrfsPool({ path, sizeBytes: SIZE }, folder.path))).toBe('unsupported')
  expect(readFileSync(path, 'utf8')).toBe('precious')
  const plain = { path: folder.path, sizeBytes: undefined }
  expect(await faultOf(openBtrfsPool(plain, folder.path))).toBe('unsupported')
})

test('rejects a pool without space for its file and leaves no file', async () => {
  const folder = newFolder()
  const source = { path: join(folder.path, 'pool.img'), sizeBytes: 2 ** 50 }
  await expect(openBtrfsPool(source, folder.path)).rejects.toMatchObject({ name: 'PoolError' })
  expect(existsSync(source.path) || existsSync(`${source.path}.holdfast-new`)).toBe(false)
})

test('uses a subvolume of a larger file system as a pool, and notices when it is not mounted', async () => {
  const outer = await started()
  const folder = newFolder()
  const path = join(folder.path, 'disk')
  mkdirSync(path)
  runCommand('btrfs', ['subvolume', 'create', join(outer.root, 'inner')])
  runCommand('mount', ['-o', 'loop,subvol=inner', outer.file, path])
  const open = () => openBtrfsPool({ path, sizeBytes: undefined }, folder.path)
  const pool = await open()
  const mountPoint = await pool.provision('vol_a', 16 * MIB)
  runCommand('btrfs', ['subvolume', 'create', join(mountPoint, 'nested')])
  await pool.takeCheckpoint('vol_a', { epoch: 1, number: 1 })
  expect(await pool.countNested('vol_a')).toBe(1)
  expect(await pool.list()).toMatchObject({
    volumes: [{ volume: 'vol_a', limitBytes: 16 * MIB }],
    checkpoints: [{ volume: 'vol_a', epoch: 1, number: 1, origin: 'taken' }],
  })
  expect(await outer.pool.list()).toEqual({ volumes: [], checkpoints: [] })
  await pool.remove('vol_a')
  expect(await pool.list()).toEqual({ volumes: [], checkpoints: [] })
  unmountBelow(folder.path)
  await expect(pool.inspect()).rejects.toMatchObject({ fault: 'missing' })
  expect(await faultOf(open())).toBe('missing')
})

test('reports a pool that cannot be read, and never an empty one', async () => {
  const home = await started()
  await home.pool.provision('vol_a', 16 * MIB)
  unmountBelow(home.folder)
  await expect(home.pool.list()).rejects.toMatchObject({ failed: { exitCode: 1 } })
  await expect(home.pool.inspect()).rejects.toMatchObject({ fault: 'missing' })
})
