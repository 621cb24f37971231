// The ends of data in a real pool: copies that the server decided about, pools that change their tenant, and releases.

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredCopy, PoolWipe, VolumeId } from '@holdfast/contract'
import { runCommand } from '@holdfast/testkit/run-command'
import { afterEach, expect, test } from 'vitest'
import { systemCommands } from '../adapters/btrfs/commands.ts'
import { openBtrfsPool } from '../adapters/btrfs/open-pool.ts'
import {
  commandsUntil,
  Killed,
  LONG,
  MIB,
  startPool,
  type TestPool,
  unmountBelow,
} from '../adapters/btrfs/pool.fixture.ts'
import { newTenant } from '../fixtures/agent.fixture.ts'
import { desiredCopy, type KeptCopies, keepCopies, newVolume } from './copies.fixture.ts'

const MARKER = `marker-${randomUUID()}`
const pools: TestPool[] = []
const keepers: KeptCopies[] = []
afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.close()
  for (const home of pools.splice(0)) home.remove()
})

async function newPool(sizeBytes = 192 * MIB): Promise<TestPool> {
  const home = await startPool(sizeBytes)
  pools.push(home)
  return home
}

/** An agent of the tenant on the pool, as after its enrollment. */
async function agentOf(home: TestPool, tenant?: string): Promise<KeptCopies> {
  const keeper = await keepCopies((order) =>
    home.open(systemCommands, tenant === undefined ? undefined : { tenant, ...(order && { order }) }),
  )
  keepers.push(keeper)
  return keeper
}

const pathOf = (keeper: KeptCopies, { volume }: Pick<DesiredCopy, 'volume'>): string =>
  keeper.mountPoint(volume)?.path ?? ''

/** Fills the pool with the marker: live data, a checkpoint, a nested subvolume, quarantined data and a broken receive. */
async function fillWithMarker(home: TestPool, keeper: KeptCopies): Promise<DesiredCopy> {
  const [copy, old] = [desiredCopy(), desiredCopy()]
  await keeper.send([copy, old])
  for (const one of [copy, old]) writeFileSync(join(pathOf(keeper, one), 'secret'), MARKER)
  runCommand('btrfs', ['subvolume', 'create', join(pathOf(keeper, copy), 'nested')])
  writeFileSync(join(pathOf(keeper, copy), 'nested', 'secret'), MARKER)
  await home.pool.takeCheckpoint(copy.volume, { epoch: 1, number: 1 })
  await keeper.send([copy, { ...old, epoch: 2, role: 'replica', mayCreate: false }])
  expect(await home.pool.listQuarantined()).toMatchObject([{ volume: old.volume, epoch: 1 }])
  mkdirSync(join(home.root, 'incoming', 'broken'))
  runCommand('btrfs', ['subvolume', 'create', join(home.root, 'incoming', 'broken', '1.2')])
  writeFileSync(join(home.root, 'incoming', 'broken', '1.2', 'secret'), MARKER)
  expect(filesWithMarker(home)).toBeGreaterThanOrEqual(4)
  return copy
}

/** The number of files with the marker in the whole tree of the pool, in a second mount that leaves no subvolume out. */
function filesWithMarker({ folder, file }: TestPool): number {
  const top = join(folder, 'all')
  mkdirSync(top, { recursive: true })
  const [device = ''] = runCommand('losetup', ['-n', '-O', 'NAME', '-j', file]).trim().split('\n')
  runCommand('mount', ['-o', 'ro,subvolid=5', device, top])
  try {
    const { status, stdout } = spawnSync('grep', ['-r', '-l', '-a', MARKER, top], { encoding: 'utf8' })
    if (status === null || status > 1) throw new Error('The pool could not be searched.')
    return stdout.split('\n').filter(Boolean).length
  } finally {
    runCommand('umount', [top])
  }
}

const subvolumesOf = ({ root }: TestPool): string[] =>
  runCommand('btrfs', ['subvolume', 'list', root]).split('\n').filter(Boolean)

const orderFor = async ({ pool }: TestPool, over: Partial<PoolWipe> = {}): Promise<PoolWipe> => ({
  poolId: (await pool.inspect()).fileSystemId,
  id: 'order-1',
  reason: 'foreign',
  ...over,
})

test('a release leaves no byte of the tenant, and is confirmed only then', LONG, async () => {
  const home = await newPool()
  const tenant = newTenant()
  const keeper = await agentOf(home, tenant)
  const copy = await fillWithMarker(home, keeper)
  const wipePool = await orderFor(home, { id: 'release-1', reason: 'released' })

  // The server desires a copy: the order does not belong to this state.
  await keeper.send([copy], { wipePool })
  expect(keeper.poolReports.at(-1)?.wiped).toBeUndefined()
  expect(readFileSync(join(pathOf(keeper, copy), 'secret'), 'utf8')).toBe(MARKER)

  await keeper.send([{ ...copy, desired: 'removed' }], { wipePool })
  await expect.poll(() => keeper.poolReports.at(-1)?.wiped).toBe('release-1')
  expect(keeper.poolReports.at(-1)).toMatchObject({ copies: [], quarantined: [] })
  expect([filesWithMarker(home), subvolumesOf(home)]).toEqual([0, []])
  expect(readdirSync(join(home.folder, 'volumes'))).toEqual([])

  const next = await agentOf(home, newTenant())
  await next.send([])
  expect(next.poolReports.at(-1)).toMatchObject({ copies: [], storage: { poolBytes: 192 * MIB } })
})

test(
  'a pool of another tenant is neither mounted nor offered, and is empty before it is used',
  LONG,
  async () => {
    const home = await newPool()
    const [former, tenant] = [newTenant(), newTenant()]
    const before = await agentOf(home, former)
    const copy = await fillWithMarker(home, before)
    await before.close()
    unmountBelow(home.folder)

    const keeper = await agentOf(home, tenant)
    await keeper.send([desiredCopy()])
    expect(keeper.reports.at(-1)).toMatchObject({ state: 'failed', reason: 'pool_foreign' })
    const foreign = keeper.poolReports.at(-1)
    expect(foreign).toMatchObject({ foreign: former, storage: { poolBytes: 0, fault: 'pool_foreign' } })
    expect(foreign).not.toHaveProperty('copies')
    for (const name of readdirSync(join(home.folder, 'volumes')))
      expect(readdirSync(join(home.folder, 'volumes', name))).toEqual([])
    expect(filesWithMarker(home)).toBeGreaterThan(0)

    await keeper.send([], { wipePool: await orderFor(home, { poolId: 'another' }) })
    expect(filesWithMarker(home)).toBeGreaterThan(0)
    const wipePool = await orderFor(home)
    await keeper.send([], { wipePool })
    await expect.poll(() => keeper.poolReports.at(-1)?.wiped).toBe(wipePool.id)
    expect([filesWithMarker(home), subvolumesOf(home)]).toEqual([0, []])
    const notes = readdirSync(join(home.root, 'notes')).join()
    expect(notes).not.toContain(copy.volume)

    // The order comes with each complete set until the server has heard the confirmation.
    const own = desiredCopy()
    await keeper.send([own], { wipePool })
    writeFileSync(join(pathOf(keeper, own), 'x'), 'own data')
    await keeper.send([own], { wipePool: { ...wipePool, id: 'order-2' } })
    await expect.poll(() => keeper.poolReports.at(-1)?.wiped).toBe('order-2')
    await keeper.check()
    expect(readFileSync(join(pathOf(keeper, own), 'x'), 'utf8')).toBe('own data')
  },
)

test('deletes no data of another tenant while a container mounts it', LONG, async () => {
  const home = await newPool()
  const before = await agentOf(home, newTenant())
  await fillWithMarker(home, before)
  const { volume } = (await home.pool.list()).volumes[0] ?? { volume: '' }
  const inContainer = join(home.folder, 'container')
  mkdirSync(inContainer)
  runCommand('mount', ['--bind', join(home.root, 'volumes', volume), inContainer])
  const tenant = newTenant()
  const order = await orderFor(home)
  const open = () => home.open(systemCommands, { tenant, order })
  await expect(open()).rejects.toMatchObject({ fault: 'foreign' })
  expect(filesWithMarker(home)).toBeGreaterThan(0)
  runCommand('umount', [inContainer])
  expect(await (await open()).inspect()).toMatchObject({ wiped: order.id })
  expect(filesWithMarker(home)).toBe(0)
})

test('an agent that is killed while it empties a pool never hands it out with data', LONG, async () => {
  const home = await newPool()
  const before = await agentOf(home, newTenant())
  await fillWithMarker(home, before)
  const owner = { tenant: newTenant(), order: await orderFor(home) }
  let kills = 0
  for (let isKilled = true; isKilled; kills += 1) {
    const opened = await home.open(commandsUntil(kills), owner).catch((error: unknown) => error)
    isKilled = opened instanceof Killed
    if (!isKilled) break
    // Without the order the rest of the data is still foreign, or all of it is gone.
    const rest = await home.open(systemCommands, { tenant: owner.tenant }).catch((error: unknown) => error)
    if (filesWithMarker(home) > 0) expect(rest).toMatchObject({ fault: 'foreign' })
    if (!(rest instanceof Error)) break
  }
  await home.open(systemCommands, owner)
  expect([filesWithMarker(home), subvolumesOf(home)]).toEqual([0, []])
  expect(kills).toBeGreaterThan(8)
})

test('puts data of an earlier primary into quarantine and counts it, until its volume is deleted', async () => {
  const home = await newPool()
  const keeper = await agentOf(home, newTenant())
  const copy = desiredCopy()
  await keeper.send([copy])
  const path = pathOf(keeper, copy)
  writeFileSync(join(path, 'last-write'), 'x'.repeat(2 * MIB))
  await home.pool.takeCheckpoint(copy.volume, { epoch: 1, number: 1 })
  const replica: DesiredCopy = { ...copy, epoch: 2, role: 'replica', mayCreate: false }
  await keeper.send([replica])
  expect(keeper.mountPoint(copy.volume)).toBeUndefined()
  const live = join(home.root, 'quarantine', copy.volume, '1', 'live')
  expect(statSync(join(live, 'last-write')).size).toBe(2 * MIB)
  expect(() => writeFileSync(join(live, 'y'), 'y')).toThrow('EROFS')
  // The checkpoint stays in its place: it may be the base of a short copy of the changes.
  expect(keeper.stateOf(copy)).toBe('present')
  await keeper.pool.check()
  await keeper.check()
  const [held] = keeper.poolReports.at(-1)?.quarantined ?? []
  expect(held).toMatchObject({ volume: copy.volume, epoch: 1, since: expect.stringMatching(/^20/) })
  expect(held?.usedBytes).toBeGreaterThan(2 * MIB)

  await keeper.send([{ ...replica, desired: 'removed' }])
  expect(keeper.stateOf(copy)).toBe('removed')
  expect(existsSync(join(home.root, 'quarantine', copy.volume))).toBe(false)
  expect(subvolumesOf(home)).toEqual([])
})

const decisionOf = (volume: VolumeId, action: 'quarantine' | 'delete', epoch = 1) => ({
  volume,
  epoch,
  action,
})

test('carries out decisions about copies that are not desired, and keeps all others', async () => {
  const home = await newPool()
  const first = await agentOf(home, newTenant())
  const [kept, moved, deleted, stale] = [desiredCopy(), desiredCopy(), desiredCopy(), desiredCopy()]
  await first.send([kept, moved, deleted, stale])
  for (const copy of [kept, moved, deleted, stale]) writeFileSync(join(pathOf(first, copy), 'x'), copy.volume)
  await first.close()
  const keeper = await agentOf(home)
  await keeper.send([])
  const offered = keeper.poolReports.at(-1)?.copies?.map(({ volume, epoch, role }) => [volume, epoch, role])
  expect(offered).toEqual(
    [kept, moved, deleted, stale].map(({ volume }) => [volume, 1, 'primary']).toSorted(),
  )
  const offers = [
    decisionOf(moved.volume, 'quarantine'),
    decisionOf(deleted.volume, 'delete'),
    // The copy has another epoch than the offer that was decided about.
    decisionOf(stale.volume, 'delete', 7),
    decisionOf(newVolume(), 'delete'),
  ]
  // The store went back to an older revision: it may not know of copies that exist.
  await keeper.send([], { revision: 9 })
  await keeper.send([], { revision: 3, offers })
  expect(keeper.poolReports.at(-1)?.copies).toHaveLength(4)
  await keeper.close()

  const again = await agentOf(home)
  await again.send([], { offers })
  const report = again.poolReports.at(-1)
  expect(report?.copies?.map(({ volume }) => volume)).toEqual([kept.volume, stale.volume].toSorted())
  expect(report?.quarantined).toMatchObject([{ volume: moved.volume, epoch: 1 }])
  const live = join(home.root, 'quarantine', moved.volume, '1', 'live', 'x')
  expect(readFileSync(live, 'utf8')).toBe(moved.volume)

  // The node gets the volume again: it is seeded beside the quarantined data.
  await again.send([{ ...moved, epoch: 2, role: 'replica', mayCreate: false }])
  expect(again.stateOf(moved)).toBe('pending no_checkpoint')
  expect(existsSync(live)).toBe(true)
})

test('leaves quarantined data read-only after the agent was killed at any command', LONG, async () => {
  const home = await newPool()
  const keeper = await agentOf(home)
  const copy = desiredCopy()
  await keeper.send([copy])
  writeFileSync(join(pathOf(keeper, copy), 'x'), 'data')
  await keeper.close()
  let kills = 0
  for (let isKilled = true; isKilled; kills += 1) {
    const pool = await home.open()
    const mortal = await home.open(commandsUntil(kills)).catch(() => undefined)
    await mortal?.quarantine(copy.volume, 1, 'all').catch(() => {})
    isKilled =
      mortal === undefined || !(await pool.listQuarantined()).some(({ volume }) => volume === copy.volume)
  }
  const live = join(home.root, 'quarantine', copy.volume, '1', 'live')
  await home.open()
  expect(readFileSync(join(live, 'x'), 'utf8')).toBe('data')
  expect(() => writeFileSync(join(live, 'y'), 'y')).toThrow('EROFS')
  expect(kills).toBeGreaterThan(3)
})

test('grows a pool to a larger size at its start, and rejects a smaller one', async () => {
  const home = await newPool(128 * MIB)
  writeFileSync(join(await home.pool.provision('vol_a', 16 * MIB), 'x'), 'kept')
  const openWith = (mib: number, commands = systemCommands) =>
    openBtrfsPool({ path: home.file, sizeBytes: mib * MIB }, home.folder, commands)
  await expect(openWith(127)).rejects.toThrow('cannot become smaller')
  await expect(openWith(255)).rejects.toThrow('to 256Mi or more only')
  expect(statSync(home.file).size).toBe(128 * MIB)
  // Killed after the file has grown: the next start continues.
  await expect(openWith(256, commandsUntil(1))).rejects.toThrow(Killed)
  const grown = await openWith(256)
  expect(await grown.inspect()).toMatchObject({ poolBytes: 256 * MIB })
  unmountBelow(home.folder)
  const again = await openWith(320)
  expect(await again.inspect()).toMatchObject({ poolBytes: 320 * MIB })
  expect(readFileSync(join(await again.provision('vol_a', 16 * MIB), 'x'), 'utf8')).toBe('kept')
})

test('creates volumes that every user can enter, whatever the umask of the agent', async () => {
  const home = await newPool(128 * MIB)
  const pool = await home.open({
    ...systemCommands,
    run: (file, args, deadlineMs) =>
      systemCommands.run('sh', ['-c', 'umask 077 && exec "$@"', 'sh', file, ...args], deadlineMs),
  })
  await pool.provision('vol_a', 16 * MIB)
  expect(statSync(join(home.root, 'volumes', 'vol_a')).mode & 0o777).toBe(0o755)
})
