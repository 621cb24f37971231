// Quarantined data of a real pool: the archive has every byte and leads nowhere, and a deletion leaves nothing.

import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { runCommand } from '@holdfast/testkit/run-command'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { systemCommands } from '../adapters/btrfs/commands.ts'
import { LONG, MIB, startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { desiredCopy, keepCopies } from './copies.fixture.ts'
import { createDivergences } from './divergences.ts'

/** Larger than the pool, so that only a hole can make it. */
const SPARSE_BYTES = 400 * MIB
const log = pino({ level: 'silent' })
const pools: TestPool[] = []
afterEach(() => {
  for (const home of pools.splice(0)) home.remove()
})

async function newPool(): Promise<TestPool> {
  const home = await startPool(320 * MIB)
  pools.push(home)
  return home
}

/** Writes a volume as a container could, and what its primary must not lose. */
function fill(root: string, outside: string): void {
  writeFileSync(join(outside, 'secret'), 'of the host')
  mkdirSync(join(root, 'folder'), { mode: 0o750 })
  writeFileSync(join(root, 'folder', 'small'), 'some bytes\0\n')
  writeFileSync(join(root, `${'long-'.repeat(40)}name`), 'a name beyond the oldest header')
  writeFileSync(join(root, '--checkpoint-action=exec=touch pwned'), 'no option')
  linkSync(join(root, 'folder', 'small'), join(root, 'second-name'))
  symlinkSync(join(outside, 'secret'), join(root, 'leads-outside'))
  symlinkSync('../../../../../..', join(root, 'leads-up'))
  runCommand('mkfifo', [join(root, 'pipe')])
  writeFileSync(join(root, 'random'), randomBytes(48 * MIB))
  const sparse = openSync(join(root, 'sparse'), 'w')
  writeSync(sparse, 'begin', 0)
  writeSync(sparse, 'end', SPARSE_BYTES)
  closeSync(sparse)
  runCommand('btrfs', ['subvolume', 'create', join(root, 'nested')])
  writeFileSync(join(root, 'nested', 'inner'), 'in a subvolume of the container')
}

/** Brings a filled volume into quarantine, as the return of a deposed primary does. */
async function quarantined(home: TestPool) {
  const keeper = await keepCopies(() => home.open())
  const copy = desiredCopy({ sizeBytes: 100 * MIB })
  await keeper.send([copy])
  const outside = join(home.folder, 'outside')
  mkdirSync(outside)
  fill(keeper.mountPoint(copy.volume)?.path ?? '', outside)
  const replica: DesiredCopy = { ...copy, epoch: 2, role: 'replica', mayCreate: false }
  await keeper.send([replica])
  await keeper.close()
  let removals = 0
  const divergences = createDivergences({
    pool: () => home.pool,
    onRemoved: () => {
      removals += 1
    },
    log,
  })
  const live = join(home.root, 'quarantine', copy.volume, '1', 'live')
  return { kept: { volume: copy.volume, epoch: 1 }, live, outside, divergences, removals: () => removals }
}

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Every name with its kind and content, in order. Names of one file that was written twice differ by nothing else. */
async function contentOf(root: string, folder = ''): Promise<string[]> {
  const found: string[] = []
  for (const name of readdirSync(join(root, folder)).toSorted()) {
    const path = join(folder, name)
    const facts = lstatSync(join(root, path))
    const mode = (facts.mode & 0o7777).toString(8)
    if (facts.isSymbolicLink()) found.push(`${path} -> ${readlinkSync(join(root, path))}`)
    else if (facts.isDirectory()) found.push(`${path}/ ${mode}`, ...(await contentOf(root, path)))
    else if (facts.isFIFO()) found.push(`${path}|`)
    else found.push(`${path} ${mode} ${facts.size} ${await hashOf(join(root, path))}`)
  }
  return found
}

test('the archive has the bytes of every file, and its links stay links', LONG, async () => {
  const home = await newPool()
  const { kept, live, outside, divergences } = await quarantined(home)
  const archive = await divergences.read(kept)
  if (archive === undefined) throw new Error('there is no archive')
  // The archive is kept outside the pool, whose free space it could exceed.
  const file = join(home.folder, 'lost.tar')
  await pipeline(archive.stream, createWriteStream(file))
  const { bytes, sha256 } = await archive.digest
  expect([statSync(file).size, await hashOf(file)]).toEqual([bytes, sha256])
  // The hole of the sparse file is not sent.
  expect(bytes).toBeLessThan(80 * MIB)

  const target = join(home.folder, 'extracted')
  mkdirSync(target)
  runCommand('tar', ['--extract', '--file', file, '--directory', target, '--numeric-owner'])
  expect(await contentOf(target)).toEqual(await contentOf(live))
  expect(readlinkSync(join(target, 'leads-outside'))).toBe(join(outside, 'secret'))
  expect(lstatSync(join(target, 'second-name')).ino).toBe(lstatSync(join(target, 'folder', 'small')).ino)
  expect(statSync(join(target, 'sparse')).size).toBe(SPARSE_BYTES + 'end'.length)
  expect(readFileSync(join(target, 'nested', 'inner'), 'utf8')).toBe('in a subvolume of the container')
  const listed = spawnSync('tar', ['--list', '--file', file], { encoding: 'utf8' })
  expect(listed.stdout.split('\n').filter((name) => name !== '' && !name.startsWith('./'))).toEqual([])
  expect(existsSync(join(home.folder, 'pwned')) || existsSync('pwned')).toBe(false)
})

test('a reader that leaves ends the process, and a missing epoch is no archive', async () => {
  const home = await newPool()
  const { kept, divergences } = await quarantined(home)
  const archive = await divergences.read(kept)
  archive?.stream.once('data', () => archive.stream.destroy())
  await expect(archive?.digest).rejects.toThrow()
  expect(await divergences.read({ ...kept, epoch: 2 })).toBeUndefined()
  expect(await divergences.read({ volume: asVolumeId('vol_none'), epoch: 1 })).toBeUndefined()
  await expect(divergences.read({ volume: asVolumeId('../volumes'), epoch: 1 })).rejects.toThrow(TypeError)
})

test('an archive of files that cannot be read never ends as complete', async () => {
  const home = await newPool()
  const { kept, divergences } = await quarantined(home)
  const pool = await home.open({
    ...systemCommands,
    // The same archive with one more name that does not exist: tar continues, writes its end mark and fails.
    start: (file, args) => systemCommands.start(file, [...args, 'gone']),
  })
  const broken = createDivergences({ pool: () => pool, onRemoved: () => {}, log })
  const archive = await broken.read(kept)
  archive?.stream.resume()
  await expect(archive?.digest).rejects.toThrow('exit code 2')
  expect(await divergences.remove(kept)).toBe(true)
})

test('a deletion leaves nothing of the epoch, touches nothing else, and can be repeated', async () => {
  const home = await newPool()
  const { kept, live, outside, divergences, removals } = await quarantined(home)
  expect(await divergences.remove({ ...kept, epoch: 7 })).toBe(false)
  expect([existsSync(live), removals()]).toEqual([true, 0])
  expect(await divergences.remove(kept)).toBe(true)
  expect(await home.pool.listQuarantined()).toEqual([])
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('of the host')
  expect([await divergences.remove(kept), removals()]).toEqual([false, 1])
  const lost = createDivergences({ pool: () => undefined, onRemoved: () => {}, log })
  await expect(lost.remove(kept)).rejects.toThrow('cannot be read')
})
