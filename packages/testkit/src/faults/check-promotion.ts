// Checks the promotion of one group after its round: compares the files of both machines, as the host reads them, with the
// events and reports of Holdfast.

import { join } from 'node:path'
import type { LabNode } from '@holdfast/testkit'
import { LONG } from '../long-run.ts'
import { eventsOf } from '../scenarios/lab-reads.ts'
import { compareDivergence } from './check-divergence.ts'
import { type BegunFault, type MachineFault, THAWED_MS } from './machine-faults.ts'
import {
  isListed,
  PROMOTION,
  type PromotionWorld,
  quarantinedLines,
  type WitnessGroup,
} from './promotion-world.ts'
import { lastEnd, overlapsIn } from './watch-writers.ts'
import { liveOf, readLines, type WitnessLine } from './witness.ts'

/** The state of a group when the fault begins, as the host sees it. */
export interface AtTheCut {
  readonly group: WitnessGroup
  /** A time before the fault, on CLOCK_BOOTTIME. */
  readonly beforeMs: number
  readonly epoch: number
  readonly primaryId: string
  /** The lines that the writer knows to be durable. */
  synced: WitnessLine[]
  /** The lines of the last complete checkpoint on the other machine. */
  held: WitnessLine[]
}

export interface GroupResult {
  readonly fault: string
  /** When the fault began, on CLOCK_BOOTTIME. */
  readonly atMs: number
  readonly group: string
  readonly from: string
  /** From the fault to the first line that the writer on the other machine wrote, by the time in that line. */
  readonly promotedMs: number
  readonly measuredLossMs: number
  /** Null if the event states none. */
  readonly statedLossMs: number | null
  /** Lines of the old primary that are not in the promoted volume, and are in quarantine. */
  readonly divergent: number
  /** The length of the archive of the old primary's data that a client downloaded. */
  readonly downloadedBytes: number
  /** Broken promises; empty if the round is as it must be. */
  readonly violations: readonly string[]
}

/** A promotion of all groups from one machine to the other. */
export interface Moved {
  readonly from: LabNode
  readonly to: LabNode
  readonly begun: BegunFault
  readonly fault: MachineFault
  /** When the fault was ended, on CLOCK_BOOTTIME. */
  readonly endMs: number
}

interface Found {
  readonly lines: readonly WitnessLine[]
  /** The lines of the promoted volume that the old primary wrote. */
  readonly inherited: readonly WitnessLine[]
  /** The lines of the old primary in quarantine; undefined if there are none. */
  readonly preserved: readonly WitnessLine[] | undefined
  readonly measuredLossMs: number
  readonly statedLossMs: number | null | undefined
}

export async function checkPromotion(
  world: PromotionWorld,
  cut: AtTheCut,
  moved: Moved,
): Promise<GroupResult> {
  const found = await find(world, cut, moved)
  const promotedMs =
    (found.lines[found.inherited.length]?.atMs ?? Number.POSITIVE_INFINITY) - moved.begun.atMs
  const ended = { volume: cut.group.volume, epoch: cut.epoch, nodeId: cut.primaryId }
  const compared = await compareDivergence(world, ended, moved.from)
  const limitMs = moved.fault.promotedMs ?? PROMOTION.promotedMs
  const violations = [
    ...(await writerFaults(world, cut, moved)),
    // The shipped times make the promise. With the short ones a busy machine decides, so only the wait has a limit.
    ...unless(!LONG || promotedMs <= limitMs, `promoted after ${promotedMs} ms`),
    ...lossFaults(cut, found, moved),
    ...quarantineFaults(world, cut, found, moved),
    ...lineageFaults(world, cut, found),
    ...compared.violations,
  ]
  return {
    fault: moved.fault.name,
    atMs: moved.begun.atMs,
    group: cut.group.name,
    from: moved.from.name,
    promotedMs,
    measuredLossMs: found.measuredLossMs,
    statedLossMs: found.statedLossMs ?? null,
    divergent: Math.max(0, (found.preserved?.length ?? 0) - found.inherited.length),
    downloadedBytes: compared.bytes,
    violations,
  }
}

async function find(world: PromotionWorld, cut: AtTheCut, moved: Moved): Promise<Found> {
  const { from, to, begun } = moved
  const { volume } = cut.group
  const lines = readLines(join(liveOf(to, volume), 'lines'))
  const nodes = await world.watch.nodeOfHost()
  const isNew = ({ host, atMs }: WitnessLine) => nodes.get(host) === to.name && atMs >= begun.atMs
  const inherited = lines.filter((line) => !isNew(line))
  const quarantined = [...quarantinedLines(from, volume)]
  const preserved = quarantined.find(([name]) => name.split('-')[0] === String(cut.epoch))?.[1]
  // From the first line that is lost to the last one. Before the first one the writer may have paused, as after a start.
  const lost = preserved?.slice(inherited.length) ?? []
  const measuredLossMs = (lost.at(-1)?.atMs ?? 0) - (lost.at(0)?.atMs ?? 0)
  return { lines, inherited, preserved, measuredLossMs, statedLossMs: await statedLoss(world, cut) }
}

/** A machine that was frozen whole can write for a moment after it resumes; see docs/design/promotion.md#guarantees */
async function writerFaults({ watch }: PromotionWorld, cut: AtTheCut, moved: Moved): Promise<string[]> {
  const { fault, endMs, from } = moved
  const { name } = cut.group
  const samples = await watch.samples()
  const own = overlapsIn(samples).filter(({ group, fromMs }) => group === name && fromMs >= cut.beforeMs)
  if (fault.freezes !== true) return own.map((one) => `two writers: ${JSON.stringify(one)}`)
  const late = own.filter(({ toMs = Number.POSITIVE_INFINITY }) => toMs > endMs + THAWED_MS)
  const ended = lastEnd(samples, from.name, name) ?? Number.POSITIVE_INFINITY
  return [
    ...late.map((one) => `two writers: ${JSON.stringify(one)}`),
    ...unless(ended <= endMs + THAWED_MS, `a writer ran until ${ended - endMs} ms after the thaw`),
  ]
}

function lossFaults({ held }: AtTheCut, found: Found, { fault, begun }: Moved): string[] {
  const { lines, inherited, preserved, measuredLossMs, statedLossMs: stated } = found
  const firstNew = lines[inherited.length]?.atMs ?? Number.POSITIVE_INFINITY
  const lastOld = preserved?.at(-1)?.atMs ?? begun.atMs
  // The bytes that a frozen machine writes when it resumes are later than any loss that could be stated.
  const isBounded = fault.freezes === true || typeof stated !== 'number' || stated >= measuredLossMs
  return [
    ...unless(stated !== undefined, 'no event volume.promoted'),
    ...unless(isBounded, `the event states a loss of ${stated} ms, and ${measuredLossMs} ms are lost`),
    ...unless(isNumbered(lines), 'the lines of the promoted volume have gaps'),
    ...unless(
      startsWith(inherited, held),
      `${inherited.length} of ${held.length} acknowledged lines are there`,
    ),
    ...unless(
      fault.freezes === true || lastOld <= firstNew,
      `the old primary wrote ${lastOld - firstNew} ms after the new one began`,
    ),
  ]
}

function quarantineFaults(world: PromotionWorld, cut: AtTheCut, found: Found, { from }: Moved): string[] {
  const { group, epoch, synced, primaryId } = cut
  const { inherited, preserved = [] } = found
  return [
    ...unless(found.preserved !== undefined, `epoch ${epoch} is not in quarantine on ${from.name}`),
    ...unless(startsWith(preserved, inherited), 'the promoted lines are not those of the old primary'),
    ...unless(
      includesAll(preserved, synced),
      `not all of ${synced.length} synced lines are among the ${preserved.length} in quarantine`,
    ),
    ...unless(
      isListed(world, primaryId, group.volume, epoch),
      `the pool report of ${from.name} does not list epoch ${epoch}`,
    ),
  ]
}

/** No line that this or an earlier promotion left behind may be in the volume. */
function lineageFaults({ leftBehind }: PromotionWorld, { group }: AtTheCut, found: Found): string[] {
  const { lines, inherited, preserved = [] } = found
  const mixed = leftBehind.add(group.name, preserved.slice(inherited.length), lines)
  return unless(mixed === 0, `${mixed} lines that a promotion left behind are in the volume`)
}

const unless = (holds: boolean, text: string): string[] => (holds ? [] : [text])

const isNumbered = (lines: readonly WitnessLine[]): boolean =>
  lines.every(({ number }, index) => number === index + 1)

/** Whether the lines, which are numbered without gaps, include all of these. */
const includesAll = (lines: readonly WitnessLine[], some: readonly WitnessLine[]): boolean =>
  some.every(({ number, host, atMs }) => {
    const other = lines[number - 1]
    return other?.number === number && other.host === host && other.atMs === atMs
  })

/** Whether the first lines are exactly these. */
const startsWith = (lines: readonly WitnessLine[], first: readonly WitnessLine[]): boolean =>
  isNumbered(first) && includesAll(lines, first)

/** The loss that the event about the end of the epoch states; undefined if there is no event. */
async function statedLoss(
  { api }: PromotionWorld,
  { group, epoch }: AtTheCut,
): Promise<number | null | undefined> {
  const events = await eventsOf(api, 'volume.promoted')
  const isOwn = ({ subject, data }: (typeof events)[number]) =>
    subject.name === group.name && Object(data).fromEpoch === epoch
  const event = events.find(isOwn)
  if (event === undefined) return undefined
  const { lossSeconds } = Object(event.data)
  return lossSeconds === null ? null : lossSeconds * 1_000
}
