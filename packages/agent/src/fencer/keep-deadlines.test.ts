// The keeper of deadlines with real files, and reports that the test writes in place of a fencer.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import type { FencedGroup, FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { desiredCopy, newVolume } from '../storage/copies.fixture.ts'
import { bootTime } from './boot-clock.ts'
import { groupOf, settableLeases } from './fencer.fixture.ts'
import { encodeReport } from './fencer-files.ts'
import { createFencerLink } from './fencer-link.ts'
import { type DeadlineKeeper, startDeadlineKeeper } from './keep-deadlines.ts'

const NEVER = Number.POSITIVE_INFINITY
const keepers: DeadlineKeeper[] = []
afterEach(() => {
  for (const keeper of keepers.splice(0)) keeper.close()
})

async function keep(before: readonly FencedGroup[] = []) {
  const { path: folder } = makeTempFolder('fencer')
  const link = createFencerLink(folder)
  if (before.length > 0) await link.renew(before)
  const { leases, set } = settableLeases()
  const killed: string[] = []
  const state: { copies: DesiredCopy[] | undefined; writers: VolumeId[][] | undefined } = {
    copies: undefined,
    writers: [],
  }
  const keeper = await startDeadlineKeeper({
    link,
    leases,
    timings: { fenceMs: 2_000 },
    copies: () => state.copies,
    together: () => [],
    writersOf: async () => state.writers ?? Promise.reject(new Error('no engine')),
    cgroupsOf: (volume) => [`/cg/${volume}`],
    mountPointOf: (volume) => `/mnt/${volume}`,
    kill: (cgroups) => killed.push(...cgroups) > 0,
    log: pino({ level: 'silent' }),
  })
  keepers.push(keeper)
  const report = (groups: readonly FencedGroup[], fences: FencerReport['fences'] = new Map()): void => {
    const { boot, ms } = bootTime()
    writeFileSync(join(folder, 'report.json'), encodeReport({ boot, heartbeatMs: ms, groups, fences }))
  }
  const ends = async () => (await link.deadlines()).map(({ name, leaseEndMs }) => [name, leaseEndMs])
  return { keeper, link, set, state, report, ends, killed }
}

test('keeps the deadlines of the agent before it until the copies and their leases are known', async () => {
  const volume = newVolume()
  const endMs = bootTime().ms + 60_000
  const { keeper, state, set, ends } = await keep([groupOf(volume, endMs, [`/cg/${volume}`])])
  await keeper.check()
  state.copies = [desiredCopy({ volume })]
  await keeper.check()
  expect(await ends()).toEqual([[volume, endMs]])
  set(endMs + 2_000)
  await waitUntil(async () => (await ends())[0]?.[1] === endMs + 2_000, { what: 'the new end is written' })
})

test('releases a volume that has left the node only when no container writes it, and omits it after a report', async () => {
  const volume = newVolume()
  const endMs = bootTime().ms + 60_000
  const { keeper, state, report, ends } = await keep([groupOf(volume, endMs, [`/cg/${volume}`])])
  state.copies = []
  for (const writers of [undefined, [[volume]]]) {
    state.writers = writers
    await keeper.check()
    expect(await ends()).toEqual([[volume, endMs]])
  }
  state.writers = []
  await keeper.check()
  expect(await ends()).toEqual([[volume, NEVER]])
  report([groupOf(volume, NEVER, [`/cg/${volume}`])])
  await keeper.check()
  expect(await ends()).toEqual([])
})

test('a volume is watched by a living fencer that knows an end not later than its lease, and not while it is fenced', async () => {
  const volume = newVolume()
  const endMs = bootTime().ms + 60_000
  const { keeper, state, set, report } = await keep()
  const changes: (readonly VolumeId[])[] = []
  keeper.onChecked((changed) => void changes.push(changed))
  state.copies = [desiredCopy({ volume })]
  set(endMs)
  await keeper.check()
  expect(await keeper.isWatched(volume)).toBe(false)
  report([groupOf(volume, NEVER, [])])
  expect(await keeper.isWatched(volume)).toBe(false)
  report([groupOf(volume, endMs + 1, [])])
  expect(await keeper.isWatched(volume)).toBe(false)
  report([groupOf(volume, endMs, [])])
  expect(await keeper.isWatched(volume)).toBe(true)
  await keeper.check()
  expect(changes.flat()).toEqual([])

  const fence = {
    epoch: 1,
    leaseEndMs: endMs,
    sinceMs: 0,
    since: '2026-11-17T12:00:00.000Z',
    emptyMs: undefined,
  }
  report([groupOf(volume, endMs, [])], new Map([[volume, fence]]))
  await keeper.check()
  expect([await keeper.isWatched(volume), keeper.fencedSince(volume), changes.flat()]).toEqual([
    false,
    fence.since,
    [volume],
  ])
  report([groupOf(volume, endMs, [])])
  await keeper.check()
  expect([keeper.fencedSince(volume), changes.flat()]).toEqual([undefined, [volume, volume]])
})

test('writers are killed by the agent if a fence is due and no living fencer has one', async () => {
  const volume = newVolume()
  const { keeper, state, set, report, killed } = await keep()
  state.copies = [desiredCopy({ volume })]
  set(bootTime().ms + 60_000)
  await keeper.check()
  expect(killed).toEqual([])
  const endMs = bootTime().ms + 2_000
  set(endMs)
  await keeper.check()
  expect(killed).toContain(`/cg/${volume}`)
  const fence = { epoch: 1, leaseEndMs: endMs, sinceMs: 0, since: 'then', emptyMs: undefined }
  report([groupOf(volume, endMs, [`/cg/${volume}`])], new Map([[volume, fence]]))
  await keeper.check()
  const count = killed.length
  await keeper.check()
  expect(killed).toHaveLength(count)
})
