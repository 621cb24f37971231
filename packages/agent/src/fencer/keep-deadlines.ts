// Keeps the deadlines of the fencer in step with the leases of this node's volumes, and follows the fencer's report. The
// deadlines are written at once when a lease changes, and checked every second (docs/design/fencer.md#deadlines).

import { setTimeout as delay } from 'node:timers/promises'
import { type DesiredCopy, isVolumeId, type VolumeId } from '@holdfast/contract'
import { type FencedGroup, type FencerReport, isAlive } from '@holdfast/core/promotion/fencer-groups'
import {
  type DeadlineFacts,
  guardOf,
  knownGroups,
  needsWriters,
  planDeadlines,
} from '@holdfast/core/promotion/plan-deadlines'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import type { Fences, Leases } from '../ports/leases.ts'
import { coalesce } from '../routing/coalesce.ts'
import { bootTime, latestBootClockMs } from './boot-clock.ts'
import { encodeDeadlines } from './fencer-files.ts'
import type { FencerLink } from './fencer-link.ts'

const CHECK_MS = 1_000
/** A fencer at rest reads new deadlines within 200 ms. */
const READ_MS = 500
const POLL_MS = 20

export interface DeadlineDeps {
  readonly link: FencerLink
  readonly leases: Leases
  readonly timings: Pick<PromotionTimings, 'fenceMs'>
  /** The desired copies of this node; undefined until they are known. */
  copies(): Iterable<DesiredCopy> | undefined
  /** Volumes that one desired container writes. */
  together(): readonly (readonly VolumeId[])[]
  /** For each existing container that writes one of the volumes, all that it writes. Rejects if that cannot be observed. */
  writersOf(volumes: readonly VolumeId[]): Promise<readonly (readonly VolumeId[])[]>
  /** The cgroups of the volume's writers; empty if the kernel has none that could be killed. */
  cgroupsOf(volume: string): readonly string[]
  mountPointOf(volume: string): string
  /** Kills all processes below the cgroups. Returns whether there may have been any. */
  kill(cgroups: readonly string[]): boolean
  readonly log: Logger
}

export interface DeadlineKeeper extends Fences {
  /** Checks now. Never rejects. */
  check(): Promise<void>
  /** Calls the listener after each check, with the volumes whose fence has begun or ended since the check before. */
  onChecked(listener: (changed: readonly VolumeId[]) => void): void
  /** The newest report that was read. */
  report(): FencerReport | undefined
  close(): void
}

/** Reads what an agent before this one has registered, so that no deadline of this boot is lost. */
export async function startDeadlineKeeper(deps: DeadlineDeps): Promise<DeadlineKeeper> {
  const { link, leases } = deps
  let file = await link.deadlines()
  let report = await link.report()
  let fences = fencesIn(report)
  let written = ''
  const listeners: ((changed: readonly VolumeId[]) => void)[] = []
  const attempt = createAttempt(deps.log)

  async function renew(): Promise<void> {
    const plan = await planNow(deps, file, report)
    if (plan === undefined) return
    const text = encodeDeadlines({ boot: '', groups: plan })
    // A living fencer that lacks a group has lost its files.
    if (text === written && (!isLiving(report) || isAcknowledged(report, plan))) return
    await link.renew(plan)
    file = plan
    written = text
    const endMs = performance.now() + READ_MS
    while (isLiving(report) && !isAcknowledged(report, plan) && performance.now() < endMs) {
      await delay(POLL_MS)
      report = await link.report()
    }
  }
  /** Applies the fences of the newest report. Returns the volumes whose fence has begun or ended. */
  function followFences(): VolumeId[] {
    const before = fences
    fences = fencesIn(report)
    const volumes = new Set([...before.keys(), ...fences.keys()])
    return [...volumes].filter((volume) => before.get(volume) !== fences.get(volume))
  }
  const check = coalesce(async () => {
    report = await link.report()
    // A fence that the renewal lifts has unmounted its volumes, so it must not be missed.
    const begun = followFences()
    await attempt(renew)
    killUnfenced(deps, file, report)
    const changed = new Set([...begun, ...followFences()])
    for (const listener of listeners) listener([...changed])
  })
  leases.onChange(() => void check())
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return {
    check,
    onChecked: (listener) => void listeners.push(listener),
    report: () => report,
    fencedSince: (volume) => fences.get(volume),
    isWatched: async (volume) =>
      guardOf(await link.report(), [volume], leases.endMs(volume), bootTime()) === 'guarded',
    close: () => clearInterval(timer),
  }
}

/** Ends writers whose fence is due and not in force: a fencer that is dead or starts again must not let them run. */
function killUnfenced(
  { kill, log }: DeadlineDeps,
  groups: readonly FencedGroup[],
  report: FencerReport | undefined,
): void {
  const nowMs = latestBootClockMs()
  for (const { name, cgroups, leaseEndMs, fenceMs } of groups) {
    if (nowMs < leaseEndMs - fenceMs || (isLiving(report) && report?.fences.has(name))) continue
    if (kill(cgroups)) log.warn({ group: name, leaseEndMs }, 'lease ends without a fence, writers killed')
  }
}

/** The deadlines as they should be; undefined while this node's copies are not known, so the file stays as it is. */
async function planNow(
  deps: DeadlineDeps,
  file: readonly FencedGroup[],
  report: FencerReport | undefined,
): Promise<readonly FencedGroup[] | undefined> {
  const copies = deps.copies()
  if (copies === undefined) return undefined
  const primaries = [...copies]
    .filter(({ role, desired }) => role === 'primary' && desired === 'present')
    // Without cgroups nothing could be killed, so such a volume is not watched and its writers wait.
    .filter(({ volume }) => deps.cgroupsOf(volume).length > 0)
    .map(({ volume, epoch }) => ({
      volume,
      epoch,
      leaseEndMs: deps.leases.endMs(volume),
      isForgotten: deps.leases.isForgotten?.(volume) === true,
    }))
  const known = knownGroups(file, report, bootTime().boot)
  const together = deps.together()
  const facts: DeadlineFacts = {
    primaries,
    together,
    written: needsWriters(known, { primaries, together }) ? await observeWriters(deps, known.values()) : [],
    fenceMs: deps.timings.fenceMs,
    cgroupsOf: deps.cgroupsOf,
    mountOf: deps.mountPointOf,
  }
  return planDeadlines(known, facts, report)
}

async function observeWriters(
  deps: DeadlineDeps,
  groups: Iterable<FencedGroup>,
): Promise<DeadlineFacts['written']> {
  const volumes = new Set([...groups].flatMap((group) => group.volumes.filter(isVolumeId)))
  try {
    return await deps.writersOf([...volumes])
  } catch (error) {
    deps.log.debug({ message: String(error) }, 'writers unknown, their deadlines stay')
    return undefined
  }
}

/** Since when each volume is fenced, as a date. */
function fencesIn(report: FencerReport | undefined): ReadonlyMap<VolumeId, string> {
  const found = new Map<VolumeId, string>()
  if (report === undefined || report.boot !== bootTime().boot) return found
  for (const { name, volumes } of report.groups) {
    const since = report.fences.get(name)?.since
    if (since !== undefined) for (const volume of volumes.filter(isVolumeId)) found.set(volume, since)
  }
  return found
}

const isLiving = (report: FencerReport | undefined): boolean =>
  report !== undefined && isAlive(report, bootTime())

/** Whether the fencer has all groups with these ends. */
function isAcknowledged(report: FencerReport | undefined, plan: readonly FencedGroup[]): boolean {
  const ends = new Map(report?.groups.map(({ name, leaseEndMs }) => [name, leaseEndMs]))
  return plan.every(({ name, leaseEndMs }) => ends.get(name) === leaseEndMs)
}

/** Logs the first of several failures. A check that fails is repeated. */
function createAttempt(log: Logger) {
  let isFailing = false
  return async (step: () => Promise<void>): Promise<void> => {
    try {
      await step()
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ message: String(error) }, 'deadlines of the fencer not written, retrying')
      isFailing = true
    }
  }
}
