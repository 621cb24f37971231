// The loop of the fencer: it reads the deadlines, decides by the reducer of the protocol, kills, unmounts and reports. Each
// step is short and synchronous except for the unmounting, which may hang with a disk (docs/design/fencer.md#process).

import { runFencer } from '@holdfast/core/promotion/fencer'
import {
  type Deadlines,
  type FencedGroup,
  type FencedGroups,
  type FenceReport,
  type FencerReport,
  mergeDeadlines,
} from '@holdfast/core/promotion/fencer-groups'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'

/** Node's timers stand still while the machine is suspended, so no wait is longer. */
const REST_MS = 200
/** While a fence is in force, a process that appears lives no longer than 100 ms. */
const FENCED_MS = 25
/** While processes are being killed. */
const BUSY_MS = 5
const REPORT_EVERY_MS = 1_000
/** A mount that is back, or could not be removed, is unmounted again. */
const UNMOUNT_EVERY_MS = 500

/** The machine as the fencer uses it. */
export interface FencerMachine {
  readonly boot: string
  /** CLOCK_BOOTTIME, never earlier than it is. */
  nowMs(): number
  date(): string
  /** The deadlines if they have changed since the last call; undefined if not, or if they cannot be read. */
  readDeadlines(): Deadlines | undefined
  /** Kills all processes below the cgroups; returns whether each had none before. */
  kill(cgroups: readonly string[]): ReadonlyMap<string, 'empty' | 'busy' | 'unknown'>
  /** Starts to unmount the paths that are mounted. A call during an earlier one does nothing. */
  unmount(paths: readonly string[]): void
  report(report: FencerReport): void
  /** Restarts the machine at once, without a sync; undefined: the operator has not allowed it. */
  reboot: (() => void) | undefined
  log(fields: { readonly [name: string]: unknown }, message: string): void
}

interface Fence extends FenceReport {
  /** Processes have been there since this time; undefined: none were there at the last reading. */
  readonly busySinceMs: number | undefined
  readonly unmountAtMs: number
  /** The fencer has logged that writers cannot be killed, and has asked for a reboot if it may. */
  readonly escalated: boolean
}

/** Returns the function of one step, which returns the time to wait before the next one. */
export function createFencer(machine: FencerMachine, before: FencerReport | undefined): () => number {
  let groups: FencedGroups = mergeDeadlines(new Map(), before, machine.boot)
  const fences = new Map<string, Fence>()
  for (const [name, fence] of before?.boot === machine.boot ? before.fences : [])
    fences.set(name, { ...fence, busySinceMs: undefined, unmountAtMs: 0, escalated: false })
  let reportAtMs = 0
  return () => {
    const nowMs = machine.nowMs()
    const read = machine.readDeadlines()
    groups = mergeDeadlines(groups, read, machine.boot)
    const due = [...groups.values()].filter((group) => isDue(group, fences, nowMs))
    const lifted = [...fences.keys()].filter((name) => !due.some((group) => group.name === name))
    const changes = [...lifted.map((name) => lift(machine, fences, name)), ...fence(machine, fences, due)]
    if (read !== undefined || changes.some(Boolean) || nowMs >= reportAtMs) {
      machine.report({
        boot: machine.boot,
        heartbeatMs: nowMs,
        groups: [...groups.values()],
        fences: reports(fences),
      })
      reportAtMs = nowMs + REPORT_EVERY_MS
    }
    return waitMs(groups, fences, machine.nowMs())
  }
}

const isDue = (
  { name, leaseEndMs, fenceMs }: FencedGroup,
  fences: Map<string, Fence>,
  nowMs: number,
): boolean =>
  runFencer({ fenced: fences.has(name) }, leaseEndMs, nowMs, { ...PROMOTION_TIMINGS, fenceMs }).kill

function lift(machine: FencerMachine, fences: Map<string, Fence>, name: string): boolean {
  machine.log({ group: name }, 'fence lifted, the lease was renewed')
  return fences.delete(name)
}

/** Kills the writers of all groups together, so that one group does not wait for another. Returns what is to be reported. */
function fence(machine: FencerMachine, fences: Map<string, Fence>, due: readonly FencedGroup[]): boolean[] {
  if (due.length === 0) return []
  const found = machine.kill(due.flatMap(({ cgroups }) => cgroups))
  const nowMs = machine.nowMs()
  return due.map((group) => {
    const before = fences.get(group.name)
    const isEmpty = group.cgroups.every((path) => found.get(path) === 'empty')
    const next = advance(group, before ?? newFence(machine, group, nowMs), isEmpty, nowMs)
    fences.set(group.name, escalate(machine, group, unmount(machine, group, next, nowMs), nowMs))
    const isNews = before?.emptyMs !== next.emptyMs
    if (before === undefined) machine.log(about(group), 'lease ends, writers are being killed')
    if (isNews) machine.log({ ...about(group), afterMs: nowMs - next.sinceMs }, 'writers are gone')
    return before === undefined || isNews
  })
}

const about = ({ name, epoch, leaseEndMs }: FencedGroup) => ({ group: name, epoch, leaseEndMs })

const newFence = (machine: FencerMachine, { epoch, leaseEndMs }: FencedGroup, nowMs: number): Fence => ({
  epoch,
  leaseEndMs,
  sinceMs: nowMs,
  since: machine.date(),
  emptyMs: undefined,
  busySinceMs: undefined,
  unmountAtMs: 0,
  escalated: false,
})

function advance({ epoch, leaseEndMs }: FencedGroup, fence: Fence, isEmpty: boolean, nowMs: number): Fence {
  const emptyMs = fence.emptyMs ?? (isEmpty ? nowMs : undefined)
  const busySinceMs = isEmpty ? undefined : (fence.busySinceMs ?? nowMs)
  return { ...fence, epoch, leaseEndMs, emptyMs, busySinceMs }
}

/** A volume is unmounted once no writer is left: the kernel then has no file of it open for a container. */
function unmount(machine: FencerMachine, { mounts }: FencedGroup, fence: Fence, nowMs: number): Fence {
  if (fence.busySinceMs !== undefined || nowMs < fence.unmountAtMs) return fence
  machine.unmount(mounts)
  return { ...fence, unmountAtMs: nowMs + UNMOUNT_EVERY_MS }
}

/** Writers that no signal ends keep the machine from being fenced in any other way. */
function escalate(machine: FencerMachine, group: FencedGroup, fence: Fence, nowMs: number): Fence {
  if (fence.escalated || fence.busySinceMs === undefined) return fence
  if (nowMs - fence.busySinceMs < group.fenceMs) return fence
  machine.log(
    about(group),
    machine.reboot ? 'writers cannot be killed, rebooting' : 'writers cannot be killed',
  )
  machine.reboot?.()
  return { ...fence, escalated: true }
}

const reports = (fences: ReadonlyMap<string, Fence>): Map<string, FenceReport> =>
  new Map(
    [...fences].map(([name, { epoch, leaseEndMs, sinceMs, since, emptyMs }]) => [
      name,
      { epoch, leaseEndMs, sinceMs, since, emptyMs },
    ]),
  )

function waitMs(groups: FencedGroups, fences: ReadonlyMap<string, Fence>, nowMs: number): number {
  if ([...fences.values()].some(({ busySinceMs }) => busySinceMs !== undefined)) return BUSY_MS
  if (fences.size > 0) return FENCED_MS
  let nextMs = nowMs + REST_MS
  for (const { leaseEndMs, fenceMs } of groups.values()) nextMs = Math.min(nextMs, leaseEndMs - fenceMs)
  return Math.max(1, nextMs - nowMs)
}
