// The deadlines that an agent keeps for the fencer of its node. A group that may have a writer stays listed with an end of its
// lease until no promise is needed, or no container writes its volumes (docs/design/fencer.md#deadlines).

import {
  type BootTime,
  type FencedGroup,
  type FencedGroups,
  type FencerReport,
  isAlive,
} from './fencer-groups.ts'

/** A volume whose primary is this node. */
export interface LeasedVolume {
  readonly volume: string
  readonly epoch: number
  /** Infinite if no promise is needed; negative infinity if promises are needed and none is known. */
  readonly leaseEndMs: number
  /** The node has lost its record of the promises, so it does not know whether any is needed. */
  readonly isForgotten?: boolean
}

export interface DeadlineFacts {
  readonly primaries: readonly LeasedVolume[]
  /** Volumes that one desired container writes. */
  readonly together: readonly VolumeSet[]
  /** Volumes that one existing container writes. Undefined: unknown, so every known group may still be written together. */
  readonly written: readonly VolumeSet[] | undefined
  readonly fenceMs: number
  /** The cgroups of writers that are named by the volume. */
  cgroupsOf(volume: string): readonly string[]
  mountOf(volume: string): string
}

type VolumeSet = readonly string[]

const NEVER = Number.POSITIVE_INFINITY
/** Every clock is past it, so the group is fenced at once. */
const EXPIRED_MS = 0

/** The groups of the agent's last file and those that only the fencer still knows, for example because the file was lost. */
export function knownGroups(
  file: readonly FencedGroup[],
  report: FencerReport | undefined,
  boot: string,
): FencedGroups {
  const reported = report?.boot === boot ? report.groups : []
  return new Map([...reported, ...file].map((group) => [group.name, group]))
}

/**
 * Whether the plan needs to know which containers exist: a known group with a lease would be divided or released. A group
 * without a lease can be released at any time.
 */
export function needsWriters(
  known: FencedGroups,
  { primaries, together }: Pick<DeadlineFacts, 'primaries' | 'together'>,
): boolean {
  const sets = connect([...primaries.map(({ volume }) => [volume]), ...together])
  const own = new Set(primaries.map(({ volume }) => volume))
  return [...known.values()].some(
    ({ leaseEndMs, volumes }) =>
      leaseEndMs !== NEVER &&
      (!volumes.every((one) => own.has(one)) ||
        !sets.some((set) => volumes.every((one) => set.includes(one)))),
  )
}

/**
 * The groups for the file. A lease that is not known does not change a known end. A group that is released has no end first,
 * and is omitted once the fencer has reported that.
 */
export function planDeadlines(
  known: FencedGroups,
  facts: DeadlineFacts,
  report: FencerReport | undefined,
): FencedGroup[] {
  const planned = planGroups(known, facts)
  const names = new Set(planned.map(({ name }) => name))
  const released = [...known.values()]
    .filter(({ name }) => !names.has(name))
    .filter(({ name }) => !isReleased(report, name))
    .map((group) => ({ ...group, leaseEndMs: NEVER }))
  return [...planned, ...released].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function planGroups(known: FencedGroups, facts: DeadlineFacts): FencedGroup[] {
  const groups = [...known.values()]
  const primaries = new Map(facts.primaries.map((one) => [one.volume, one]))
  const leased = groups.filter(({ leaseEndMs }) => leaseEndMs !== NEVER)
  const written = facts.written ?? leased.map(({ volumes }) => volumes)
  // Volumes that have left this node and may still have a writer keep the end that they had.
  const left = leased
    .flatMap(({ volumes }) => volumes)
    .filter((volume) => !primaries.has(volume) && written.some((set) => set.includes(volume)))
  const members = new Set([...primaries.keys(), ...left])
  const sets = [...[...members].map((volume) => [volume]), ...facts.together, ...written]
  return connect(sets.map((set) => set.filter((volume) => members.has(volume)))).map((volumes) => {
    const name = volumes[0] ?? ''
    const ends = volumes.map((volume) => {
      const primary = primaries.get(volume)
      return endOf(volume, primary, primary?.isForgotten === true ? groups : leased)
    })
    return {
      name,
      epoch: primaries.get(name)?.epoch ?? epochIn(groups, name),
      volumes,
      cgroups: volumes.flatMap((volume) => facts.cgroupsOf(volume)),
      mounts: volumes.map((volume) => facts.mountOf(volume)),
      leaseEndMs: Math.min(...ends),
      fenceMs: facts.fenceMs,
    }
  })
}

/**
 * A known end stays in force while the lease is unknown: the promises that backed it hold until then. If the promises were
 * lost, a known group without an end proves that none was needed: a primary registers an end before it asks for a node.
 */
function endOf(volume: string, primary: LeasedVolume | undefined, known: readonly FencedGroup[]): number {
  if (primary !== undefined && primary.leaseEndMs !== Number.NEGATIVE_INFINITY) return primary.leaseEndMs
  const ends = known.filter(({ volumes }) => volumes.includes(volume)).map(({ leaseEndMs }) => leaseEndMs)
  return ends.length === 0 ? EXPIRED_MS : Math.min(...ends)
}

const epochIn = (groups: readonly FencedGroup[], volume: string): number =>
  groups.find(({ volumes }) => volumes.includes(volume))?.epoch ?? 0

const isReleased = (report: FencerReport | undefined, name: string): boolean =>
  report?.groups.some((group) => group.name === name && group.leaseEndMs === NEVER) === true

/** Unites sets that have a member in common. Members and sets are sorted. */
function connect(sets: readonly VolumeSet[]): string[][] {
  let united: Set<string>[] = []
  for (const set of sets) {
    if (set.length === 0) continue
    const touched = united.filter((one) => set.some((volume) => one.has(volume)))
    united = united.filter((one) => !touched.includes(one))
    united.push(new Set([...touched.flatMap((one) => [...one]), ...set]))
  }
  return united.map((one) => [...one].toSorted())
}

/** Whether and why not a fencer guards the writers of volumes. `unknown`: it does not list them with this lease yet. */
export type Guard = 'guarded' | 'fencer_silent' | 'unknown' | 'fenced'

/** `leaseEndMs`: the end of the volumes' lease. A fencer with a later one would act too late. */
export function guardOf(
  report: FencerReport | undefined,
  volumes: VolumeSet,
  leaseEndMs: number,
  now: BootTime,
): Guard {
  if (report === undefined || !isAlive(report, now)) return 'fencer_silent'
  const own = report.groups.filter((group) => group.volumes.some((volume) => volumes.includes(volume)))
  if (own.some(({ name }) => report.fences.has(name))) return 'fenced'
  const isGuard = (group: FencedGroup): boolean =>
    group.leaseEndMs <= leaseEndMs && volumes.every((volume) => group.volumes.includes(volume))
  return leaseEndMs !== NEVER && own.some(isGuard) ? 'guarded' : 'unknown'
}
