// Machines fail while containers write replicated volumes, and copies are promoted. The host itself watches every writer
// and every file: never do two containers write one volume, every line of a complete checkpoint survives, no more is lost
// than the event states, and the data of the old primary is kept apart.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { deleteDivergence, listDivergences } from '@holdfast/testkit/faults/check-divergence'
import type { GroupResult } from '@holdfast/testkit/faults/check-promotion'
import {
  ENGINE_STOPPED,
  FROZEN,
  type MachineFault,
  POWER_CUT,
  PROMOTING_FAULTS,
  RECEIVES_NOTHING,
} from '@holdfast/testkit/faults/machine-faults'
import {
  type PromotedDatabase,
  pushDatabase,
  startPromotedDatabase,
} from '@holdfast/testkit/faults/promoted-database'
import { describeRounds, runRound } from '@holdfast/testkit/faults/promotion-round'
import {
  PROMOTION,
  type PromotionWorld,
  startPromotionWorld,
  untilSettled,
} from '@holdfast/testkit/faults/promotion-world'
import { lastEnd, overlapsIn } from '@holdfast/testkit/faults/watch-writers'
import { liveOf, poolOf, readLines } from '@holdfast/testkit/faults/witness'
import { bootClockMs } from '@holdfast/testkit/lab/lab-disks'
import { inRun } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GROUPS = inRun(1, 10)
const ROUNDS = inRun(PROMOTING_FAULTS.length, 20)
/** Promotions after which the data of the old primary is at least compared. */
const COMPARED = inRun(2, 50)
/** How long a machine is frozen. */
const FROZEN_MS = inRun(6_000, 60_000)
const PATIENCE = { timeout: inRun(480_000, 3_600_000) }

const DATABASE_CUTS = inRun(1, 20)
/** The rounds without a database have the strict limit. */
const DATABASE_MS = 60_000

let world: PromotionWorld
let database: PromotedDatabase | undefined
let databaseImage = ''
const results: GroupResult[] = []
beforeAll(async () => {
  world = await startPromotionWorld(GROUPS, async (prepared) => {
    databaseImage = await pushDatabase(prepared)
  })
})
afterAll(async () => {
  await database?.stop()
  const gapMs = await world?.watch.longestGapMs()
  console.log(`${describeRounds(results)}\nlongest time between two samples of the writers: ${gapMs} ms`)
  await world?.stop()
})

const violationsOf = (some: readonly GroupResult[]) =>
  some.flatMap(({ fault, group, violations }) => violations.map((text) => `${fault}, ${group}: ${text}`))

async function round(...[fault, options]: [Parameters<typeof runRound>[1], Parameters<typeof runRound>[2]?]) {
  const found = await runRound(world, fault, options)
  results.push(...found)
  console.log(describeRounds(found))
  return found
}

test(
  'promotes a copy after each fault of the machine of the primary, never with two writers',
  PATIENCE,
  async () => {
    const found: GroupResult[] = []
    for (let index = 0; index < ROUNDS; index += 1) {
      const fault = PROMOTING_FAULTS[index % PROMOTING_FAULTS.length] ?? POWER_CUT
      found.push(...(await round(fault, fault === FROZEN ? { lastsMs: FROZEN_MS } : {})))
    }
    expect(violationsOf(found)).toEqual([])
    expect(found).toHaveLength(GROUPS * ROUNDS)
    const compared = found.filter(({ downloadedBytes, divergent }) => downloadedBytes > 0 && divergent > 0)
    console.log(`${compared.length} of ${found.length} promotions left divergent lines, all downloaded`)
    expect(compared.length).toBeGreaterThanOrEqual(COMPARED)
  },
)

test('deletes the data of an old primary once, and keeps the current data', PATIENCE, async () => {
  await untilSettled(world)
  const [group] = world.groups
  if (group === undefined) throw new Error('there is no writer')
  const { items, unobserved } = await listDivergences(world, group.volume)
  expect(unobserved).toEqual([])
  const oldest = items.at(-1)
  if (oldest === undefined) throw new Error('nothing is kept')
  const { epoch, nodeName } = oldest
  const kept = join(poolOf(world.cluster.node(nodeName)), 'quarantine', group.volume, String(epoch))
  expect(existsSync(kept)).toBe(true)
  expect((await deleteDivergence(world, group.volume, epoch)).body).toMatchObject({ epoch, nodeName })
  expect(existsSync(kept)).toBe(false)
  expect((await listDivergences(world, group.volume)).items).toEqual(items.slice(0, -1))
  expect((await deleteDivergence(world, group.volume, epoch)).body).toEqual({ epoch })
  await untilSettled(world)
})

test('keeps the writer while only its engine hangs', PATIENCE, async () => {
  const { from } = await untilSettled(world)
  const [group] = world.groups
  if (group === undefined) throw new Error('there is no writer')
  const { primary } = await world.readVolume(group.volume)
  const begun = await ENGINE_STOPPED.begin(world, from, () => {})
  const synced = () => readLines(join(liveOf(from, group.volume), 'synced'))
  const lastsMs = PROMOTION.promotedMs
  await waitUntil(() => (synced().at(-1)?.atMs ?? 0) > begun.atMs + lastsMs, {
    what: 'the writer outlives the time of a promotion',
    timeoutMs: lastsMs * 3,
  })
  await begun.end()
  await untilSettled(world)
  expect((await world.readVolume(group.volume)).primary).toEqual(primary)
  expect(overlapsIn(await world.watch.samples()).filter(({ fromMs }) => fromMs > begun.atMs)).toEqual([])
})

test('has at most one writer while the machine of the primary receives nothing', PATIENCE, async () => {
  const { from } = await untilSettled(world)
  const begun = await RECEIVES_NOTHING.begin(world, from, () => {})
  const areFenced = async () => {
    const samples = await world.watch.samples()
    return world.groups.every(({ name }) => (lastEnd(samples, from.name, name) ?? 0) > begun.atMs)
  }
  await waitUntil(areFenced, { what: 'the writers are fenced', timeoutMs: PROMOTION.promotedMs * 3 })
  await begun.end()
  await untilSettled(world)
  expect(overlapsIn(await world.watch.samples()).filter(({ fromMs }) => fromMs > begun.atMs)).toEqual([])
})

test('promotes once the control plane is back if the machine died while it was away', PATIENCE, async () => {
  const away: MachineFault = {
    name: 'power cut without control plane',
    // Agents wait up to half a minute before they connect again.
    promotedMs: 60_000,
    async begin(_world, node, atTheCut) {
      await world.cluster.withoutControlPlane(async () => void (await world.lab.powerOff(node, atTheCut)))
      return { atMs: bootClockMs(), end: () => world.lab.powerOn(node) }
    },
  }
  expect(violationsOf(await round(away))).toEqual([])
})

test('a database with data and log on two volumes survives power cuts', PATIENCE, async () => {
  const { from } = await untilSettled(world)
  const [group] = world.groups
  const { primary } = await world.readVolume(group?.volume ?? '')
  expect(primary?.nodeName).toBe(from.name)
  database = await startPromotedDatabase(world, primary?.nodeId ?? '', databaseImage)
  for (let cut = 1; cut <= DATABASE_CUTS; cut += 1) {
    await database.untilWrites()
    const found = await round({ ...POWER_CUT, promotedMs: DATABASE_MS })
    const checked = await database.check(found[0]?.atMs ?? 0)
    console.log(`database, cut ${cut}: ${JSON.stringify(checked)}`)
    expect(violationsOf(found)).toEqual([])
    expect(checked).toMatchObject({ balanced: true, corrupt: '' })
    expect(checked.lostMs).toBeLessThanOrEqual(checked.statedMs ?? Number.POSITIVE_INFINITY)
  }
  expect(database.bench.log.unexpected).toEqual([])
})
