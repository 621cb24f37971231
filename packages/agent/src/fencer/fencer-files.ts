// The two files between agent and fencer, as text: the deadlines that the agent renews, and the fencer's report of itself.
// Each has one writer, which replaces it by a rename, so a reader sees a whole file.

import type {
  Deadlines,
  FencedGroup,
  FenceReport,
  FencerReport,
} from '@holdfast/core/promotion/fencer-groups'

/** More than a node can have. A larger file is broken. */
const MAX_GROUPS = 4_096

export const encodeDeadlines = ({ boot, groups }: Deadlines): string =>
  JSON.stringify({ boot, groups: groups.map(encodeGroup) })

export const encodeReport = ({ fences, ...report }: FencerReport): string =>
  JSON.stringify({ ...report, groups: report.groups.map(encodeGroup), fences: Object.fromEntries(fences) })

/** JSON has no infinite number: the end of a lease that needs no promise is null. */
const encodeGroup = ({ leaseEndMs, ...group }: FencedGroup) => ({
  ...group,
  leaseEndMs: Number.isFinite(leaseEndMs) ? leaseEndMs : null,
})

/** Throws if any part is not as expected: half a file must not pass for a whole one. */
export function decodeDeadlines(text: string): Deadlines {
  const { boot, groups } = asRecord(JSON.parse(text))
  return { boot: asText(boot), groups: asList(groups).map(decodeGroup) }
}

export function decodeReport(text: string): FencerReport {
  const { heartbeatMs, fences } = asRecord(JSON.parse(text))
  const decoded = Object.entries(asRecord(fences)).map(([name, one]) => [name, decodeFence(one)] as const)
  return { ...decodeDeadlines(text), heartbeatMs: asNumber(heartbeatMs), fences: new Map(decoded) }
}

function decodeGroup(value: unknown): FencedGroup {
  const { name, epoch, volumes, cgroups, mounts, leaseEndMs, fenceMs } = asRecord(value)
  return {
    name: asText(name),
    epoch: asNumber(epoch),
    volumes: asList(volumes).map(asText),
    cgroups: asList(cgroups).map(asPath),
    mounts: asList(mounts).map(asPath),
    leaseEndMs: leaseEndMs === null ? Number.POSITIVE_INFINITY : asNumber(leaseEndMs),
    fenceMs: asNumber(fenceMs),
  }
}

function decodeFence(value: unknown): FenceReport {
  const { epoch, leaseEndMs, sinceMs, since, emptyMs } = asRecord(value)
  return {
    epoch: asNumber(epoch),
    leaseEndMs: asNumber(leaseEndMs),
    sinceMs: asNumber(sinceMs),
    since: asText(since),
    emptyMs: emptyMs === undefined ? undefined : asNumber(emptyMs),
  }
}

function asRecord(value: unknown): { readonly [key: string]: unknown } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new Error('An object is expected.')
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length <= MAX_GROUPS) return value
  throw new Error(`A list of at most ${MAX_GROUPS} entries is expected.`)
}

function asText(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Error('A text is expected.')
}

/** The fencer kills below these paths and unmounts them, so a path that is not absolute is a fault. */
function asPath(value: unknown): string {
  const path = asText(value)
  if (path.startsWith('/') && path.length > 1 && !path.split('/').includes('..')) return path
  throw new Error('An absolute path is expected.')
}

function asNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new Error('A number is expected.')
}
