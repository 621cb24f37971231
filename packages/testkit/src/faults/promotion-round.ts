// One round: a fault hits the machine with the writers, the copies on the other machine are promoted, the fault ends, and the
// machine returns.

import { join } from 'node:path'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { bootClockMs } from '../lab/lab-disks.ts'
import { placementsOf } from '../scenarios/lab-reads.ts'
import { type AtTheCut, checkPromotion, type GroupResult } from './check-promotion.ts'
import type { MachineFault } from './machine-faults.ts'
import {
  heldLines,
  isListed,
  PROMOTION,
  type PromotionWorld,
  untilSettled,
  type WitnessGroup,
} from './promotion-world.ts'
import { liveOf, readLines } from './witness.ts'

export interface RoundOptions {
  /** How long the fault lasts at least. */
  readonly lastsMs?: number
}

export async function runRound(
  world: PromotionWorld,
  fault: MachineFault,
  { lastsMs = 0 }: RoundOptions = {},
): Promise<GroupResult[]> {
  await untilApart(world)
  const { from, to } = await untilSettled(world)
  const cuts = await Promise.all(world.groups.map((group) => prepare(world, group, from)))
  const begun = await fault.begin(world, from, () => {
    for (const cut of cuts) {
      cut.synced = readLines(join(liveOf(from, cut.group.volume), 'synced'))
      cut.held = heldLines(to, cut.group.volume)
    }
  })
  await Promise.all(cuts.map((cut) => untilPromoted(world, cut, to)))
  world.promotedAtMs = bootClockMs()
  await waitUntil(() => bootClockMs() - begun.atMs >= lastsMs, {
    what: 'the fault has lasted long enough',
    timeoutMs: lastsMs + 60_000,
  })
  const endMs = bootClockMs()
  await begun.end()
  await untilSettled(world)
  await untilListed(world, cuts)
  const moved = { from, to, begun, fault, endMs }
  const results: GroupResult[] = []
  // One after another: a tenant has few downloads at the same time.
  for (const cut of cuts) results.push(await checkPromotion(world, cut, moved))
  return results
}

/** A volume is not promoted twice within a short time, so a fault that follows too soon would only measure that wait. */
async function untilApart({ promotedAtMs }: PromotionWorld): Promise<void> {
  const { apartMs } = PROMOTION
  await waitUntil(() => bootClockMs() - promotedAtMs > apartMs, {
    what: 'the volumes may be promoted again',
    timeoutMs: apartMs + 10_000,
  })
}

/** Waits until the writer has written some lines since. */
async function prepare(world: PromotionWorld, group: WitnessGroup, from: LabNode): Promise<AtTheCut> {
  const file = join(liveOf(from, group.volume), 'synced')
  const before = readLines(file).length
  await waitUntil(() => readLines(file).length > before + 5, { what: `${group.name} writes` })
  const { primary } = await world.readVolume(group.volume)
  const { epoch = 0, nodeId: primaryId = '' } = primary ?? {}
  return { group, beforeMs: bootClockMs(), epoch, primaryId, synced: [], held: [] }
}

/** Waits until the writer is ready on the other machine. */
async function untilPromoted(world: PromotionWorld, { group }: AtTheCut, to: LabNode): Promise<void> {
  let seen: unknown
  const isThere = async (): Promise<boolean> => {
    const placed = await placementsOf(world.api, group.name)
    seen = [placed, await world.readVolume(group.volume)]
    return placed.some(({ nodeName, state }) => nodeName === to.name && state === 'ready')
  }
  await waitUntil(isThere, {
    what: `${group.name} is ready on ${to.name}`,
    timeoutMs: PROMOTION.promotedMs * 5,
    intervalMs: 50,
    seen: () => JSON.stringify(seen),
  })
}

/** Waits some time for the pool report of the machine that has returned. */
async function untilListed(world: PromotionWorld, cuts: readonly AtTheCut[]): Promise<void> {
  const areListed = () =>
    cuts.every(({ primaryId, group, epoch }) => isListed(world, primaryId, group.volume, epoch))
  await waitUntil(areListed, { what: 'the pool report lists the quarantine', timeoutMs: 15_000 }).catch(
    () => {},
  )
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0

const columns = (...words: readonly [string, string, string, string, ...string[]]): string => {
  const [number, fault, from, group, ...times] = words
  const padded = [number.padStart(4), fault.padEnd(40), from.padEnd(8), group.padEnd(9)]
  return [...padded, ...times.map((word) => word.padStart(9))].join(' ')
}

/** The rounds as a table, and the percentiles of the times to promotion. */
export function describeRounds(results: readonly GroupResult[]): string {
  const rows = results.map(({ fault, from, group, promotedMs, measuredLossMs, ...rest }, index) => {
    const stated = String(rest.statedLossMs ?? 'unknown')
    const times = [String(promotedMs), String(measuredLossMs), stated, String(rest.divergent)]
    return `${columns(String(index + 1), fault, from, group, ...times)} ${rest.violations.join('; ')}`
  })
  const sorted = results.map(({ promotedMs }) => promotedMs).toSorted((a, b) => a - b)
  const compared = results.filter(({ downloadedBytes }) => downloadedBytes > 0)
  const at = (share: number) => `${percentile(sorted, share)} ms`
  return [
    columns('#', 'fault', 'from', 'group', 'promoted', 'lost', 'stated', 'divergent'),
    ...rows,
    `${compared.length} divergences listed, downloaded and compared after ${results.length} promotions, ` +
      `${compared.reduce((sum, { downloadedBytes }) => sum + downloadedBytes, 0)} bytes`,
    `${results.length} promotions: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1)}`,
  ].join('\n')
}
