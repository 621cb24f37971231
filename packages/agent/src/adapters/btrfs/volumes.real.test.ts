// Volumes of a pool on a real btrfs: limits, usage, removal, and an agent that is killed between commands.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VolumeFacts, VolumePool } from '../../ports/volume-pool.ts'
import { commandsUntil, Killed, LONG, MIB, startPool, type TestPool } from './pool.fixture.ts'

let home: TestPool
let pool: VolumePool
beforeAll(async () => {
  home = await startPool()
  pool = home.pool
})
afterAll(() => home.remove())

async function factsOf(volume: string): Promise<VolumeFacts | undefined> {
  await pool.flush()
  return (await pool.list()).volumes.find((one) => one.volume === volume)
}

/** EDQUOT; Node has no name for this error. */
const EDQUOT = expect.objectContaining({ errno: -122 })
const fill = (path: string, mib: number): void => writeFileSync(path, randomBytes(mib * MIB))

test('creates a volume with its own mount, which allows no devices and no setuid programs', async () => {
  const mountPoint = await pool.provision('vol_a', 32 * MIB)
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((one) => one.split(' ')[4] === mountPoint)
  expect(line).toMatch(/nosuid,nodev,noatime/)
  expect(await pool.provision('vol_a', 32 * MIB)).toBe(mountPoint)
  expect(await factsOf('vol_a')).toMatchObject({ limitBytes: 32 * MIB })
})

test('stops a writer at the limit with EDQUOT, and other volumes keep writing', async () => {
  const [full, other] = [
    await pool.provision('vol_full', 16 * MIB),
    await pool.provision('vol_other', 64 * MIB),
  ]
  expect(() => fill(join(full, 'x'), 20)).toThrow(EDQUOT)
  fill(join(other, 'x'), 20)
})

test('reports usage within 1 % after a flush', async () => {
  const mountPoint = await pool.provision('vol_used', 64 * MIB)
  fill(join(mountPoint, 'x'), 20)
  const used = (await factsOf('vol_used'))?.usedBytes ?? 0
  expect(used / (20 * MIB)).toBeGreaterThan(0.99)
  expect(used / (20 * MIB)).toBeLessThan(1.01)
  rmSync(join(mountPoint, 'x'))
  expect((await factsOf('vol_used'))?.usedBytes).toBeLessThan(MIB)
})

test('resizes a volume in both directions and removes nothing above a smaller limit', async () => {
  const mountPoint = await pool.provision('vol_size', 8 * MIB)
  expect(() => fill(join(mountPoint, 'x'), 12)).toThrow(EDQUOT)
  await pool.provision('vol_size', 32 * MIB)
  fill(join(mountPoint, 'x'), 12)
  await pool.provision('vol_size', 8 * MIB)
  expect(await factsOf('vol_size')).toMatchObject({ limitBytes: 8 * MIB })
  expect(statSync(join(mountPoint, 'x')).size).toBe(12 * MIB)
  expect(() => fill(join(mountPoint, 'y'), 4)).toThrow(EDQUOT)
})

test('refuses to remove a volume that a process uses, and removes it afterwards with its checkpoints', async () => {
  const mountPoint = await pool.provision('vol_gone', 16 * MIB)
  await pool.takeCheckpoint('vol_gone', { epoch: 1, number: 1 })
  const used = openSync(join(mountPoint, 'x'), 'w')
  await expect(pool.remove('vol_gone')).rejects.toMatchObject({ fault: 'busy', failed: { exitCode: 32 } })
  closeSync(used)
  await pool.remove('vol_gone')
  await pool.remove('vol_gone')
  expect(existsSync(mountPoint)).toBe(false)
  expect(JSON.stringify(await pool.list())).not.toContain('vol_gone')
})

test('refuses to remove a volume that is mounted in another mount namespace, as a container mounts it', async () => {
  const mountPoint = await pool.provision('vol_held', 16 * MIB)
  writeFileSync(join(mountPoint, 'x'), 'data')
  const inside = join(home.folder, 'inside')
  mkdirSync(inside)
  const script = 'mount --bind "$0" "$1" && echo up && cat'
  const apart = ['--mount', '--propagation', 'private']
  const container = spawn('unshare', [...apart, 'sh', '-c', script, mountPoint, inside])
  await once(container.stdout, 'data')
  await expect(pool.remove('vol_held')).rejects.toMatchObject({ fault: 'busy' })
  expect(readFileSync(join(home.root, 'volumes/vol_held/x'), 'utf8')).toBe('data')
  container.stdin.end()
  await once(container, 'exit')
  await pool.remove('vol_held')
  expect(await factsOf('vol_held')).toBeUndefined()
})

test('deletes the live data of a volume alone and keeps its checkpoints', async () => {
  writeFileSync(join(await pool.provision('vol_old', 16 * MIB), 'x'), 'first')
  await pool.takeCheckpoint('vol_old', { epoch: 1, number: 1 })
  await pool.retire('vol_old')
  await pool.retire('vol_old')
  expect(await factsOf('vol_old')).toBeUndefined()
  await pool.restore('vol_old', { epoch: 1, number: 1 })
  expect(await factsOf('vol_old')).toMatchObject({ mountPoint: undefined })
  expect(readFileSync(join(await pool.provision('vol_old', 16 * MIB), 'x'), 'utf8')).toBe('first')
  expect(await factsOf('vol_old')).toMatchObject({ mountPoint: mountOf('vol_old'), limitBytes: 16 * MIB })
  await pool.remove('vol_old')
})

test('keeps notes in the pool until they are removed', async () => {
  await pool.writeNote('vol_note', 'first')
  await pool.writeNote('vol_note', 'second')
  expect(await (await home.open()).readNotes()).toEqual(new Map([['vol_note', 'second']]))
  await pool.removeNote('vol_note')
  await pool.removeNote('vol_note')
  expect(await pool.readNotes()).toEqual(new Map())
})

test('notices subvolumes that a container created inside a volume, and removes the volume with them', async () => {
  const mountPoint = await pool.provision('vol_nest', 16 * MIB)
  expect(await pool.countNested('vol_nest')).toBe(0)
  const forged = join(mountPoint, 'x\nID 999 gen 1 top level 5 received_uuid - path volumes')
  for (const path of [join(mountPoint, 'inner'), join(mountPoint, 'inner/most'), forged])
    runCommand('btrfs', ['subvolume', 'create', path])
  expect(await pool.countNested('vol_nest')).toBe(3)
  expect((await pool.list()).volumes.filter(({ volume }) => volume.startsWith('vol_nest'))).toHaveLength(1)
  await pool.remove('vol_nest')
  expect(await factsOf('vol_nest')).toBeUndefined()
  await expect(pool.countNested('vol_nest')).rejects.toMatchObject({ fault: 'failed' })
})

test('reports no usage while btrfs counts it again, and the right one afterwards', async () => {
  const mountPoint = await pool.provision('vol_scan', 64 * MIB)
  fill(join(mountPoint, 'x'), 8)
  runCommand('btrfs', ['quota', 'disable', home.root])
  const again = await home.open()
  const seen = new Set<boolean>()
  await expect
    .poll(async () => {
      const used = (await again.list()).volumes.find(({ volume }) => volume === 'vol_scan')?.usedBytes
      seen.add(used === undefined || Math.abs(used - 8 * MIB) < MIB)
      return used
    })
    .toBeGreaterThan(7 * MIB)
  expect([...seen]).toEqual([true])
})

test.each(['../x', 'a/b', '', '.', 'x'.repeat(65)])('rejects %j as the name of a volume', async (volume) => {
  await expect(pool.provision(volume, MIB)).rejects.toThrow('no name of a volume')
})

const mountOf = (volume: string): string => join(home.folder, 'volumes', volume)
const provision = async (of: VolumePool): Promise<void> => void (await of.provision('vol_killed', 16 * MIB))
const remove = (of: VolumePool): Promise<void> => of.remove('vol_killed')

test('creates a volume after the agent was killed behind any command', LONG, async () => {
  let count = 0
  for (; await isKilledAfter(count, provision); count += 1) {
    await provision(await home.open())
    expect(await factsOf('vol_killed')).toMatchObject({ limitBytes: 16 * MIB })
    writeFileSync(join(mountOf('vol_killed'), 'x'), 'data')
    await remove(pool)
  }
  await remove(pool)
  expect(count).toBeGreaterThan(3)
})

test('removes a volume after the agent was killed behind any command', LONG, async () => {
  await provision(pool)
  let count = 0
  for (; await isKilledAfter(count, remove); count += 1) {
    await remove(await home.open())
    expect(await factsOf('vol_killed')).toBeUndefined()
    expect(existsSync(mountOf('vol_killed'))).toBe(false)
    await provision(pool)
    await pool.takeCheckpoint('vol_killed', { epoch: 1, number: 1 })
  }
  expect(readdirSync(join(home.root, 'checkpoints'))).toEqual([])
  expect(count).toBeGreaterThan(6)
})

/** Runs the work with commands that stop after a count, opening the pool included; true if they stopped it. */
async function isKilledAfter(count: number, work: (of: VolumePool) => Promise<void>): Promise<boolean> {
  try {
    await work(await home.open(commandsUntil(count)))
    return false
  } catch (error) {
    if (error instanceof Killed) return true
    throw error
  }
}
