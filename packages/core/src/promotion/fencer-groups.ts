// The groups that a fencer watches. The agent registers them in a file that it renews. The fencer must fence a group on
// time although that file may be missing, broken or of another boot (docs/design/fencer.md#deadlines).

/** A volume group with all that the fencer needs to end its writers without agent and engine. */
export interface FencedGroup {
  /** The first volume of the group in sorted order, by which its cgroup is named. */
  readonly name: string
  readonly epoch: number
  readonly volumes: readonly string[]
  /** Absolute paths of the cgroups below which all writers run, and no other process. */
  readonly cgroups: readonly string[]
  /** The mount points of the volumes. */
  readonly mounts: readonly string[]
  /** End of the lease on the clock of this boot; infinite if no promise is needed. */
  readonly leaseEndMs: number
  /** The fencer begins this long before the lease ends. */
  readonly fenceMs: number
}

/** The content of the file. */
export interface Deadlines {
  readonly boot: string
  readonly groups: readonly FencedGroup[]
}

export type FencedGroups = ReadonlyMap<string, FencedGroup>

/** The end of a lease of another boot: the clock of every boot starts at 0. */
const EXPIRED_MS = 0

/**
 * The groups to watch after a read of the file; `read` is undefined if the file could not be read. A group without an
 * entry keeps the end of its lease: only an entry that needs no promise releases a group, and it can be omitted afterwards.
 */
export function mergeDeadlines(known: FencedGroups, read: Deadlines | undefined, boot: string): FencedGroups {
  if (read === undefined) return known
  const groups = new Map([...known].filter(([, { leaseEndMs }]) => leaseEndMs !== Number.POSITIVE_INFINITY))
  for (const group of read.groups) groups.set(group.name, read.boot === boot ? group : expire(group))
  return groups
}

const expire = (group: FencedGroup): FencedGroup =>
  group.leaseEndMs === Number.POSITIVE_INFINITY ? group : { ...group, leaseEndMs: EXPIRED_MS }

/** The report of a fencer on itself. */
export interface FencerReport extends Deadlines {
  /** Time of the report on the clock of the boot. */
  readonly heartbeatMs: number
  /** The fences in force, by the name of their group. */
  readonly fences: ReadonlyMap<string, FenceReport>
}

export interface FenceReport {
  readonly epoch: number
  /** The end of the lease for which the group was fenced. */
  readonly leaseEndMs: number
  /** When the fence came into force, on the clock of the boot and as a date for people. */
  readonly sinceMs: number
  readonly since: string
  /** When the group was first seen without a process; undefined: not yet. */
  readonly emptyMs: number | undefined
}

/** A fencer that has reported nothing for this time is not alive. */
export const FENCER_SILENT_MS = 3_000

/** True if a fencer lives and would end the writers of the group in time. Only then may a writer with promises start. */
export function isGuarded(report: FencerReport | undefined, name: string, now: BootTime): boolean {
  if (report === undefined || !isAlive(report, now)) return false
  return report.groups.some((group) => group.name === name) && !report.fences.has(name)
}

/** Whether the fencer of the report lives. */
export const isAlive = (report: FencerReport, now: BootTime): boolean =>
  report.boot === now.boot && now.ms - report.heartbeatMs < FENCER_SILENT_MS

/** A moment on the clock of a boot, which is named as the kernel does. */
export interface BootTime {
  readonly boot: string
  readonly ms: number
}
