import { describe, expect, test } from 'vitest'
import {
  FENCER_SILENT_MS,
  type FencedGroup,
  type FenceReport,
  isGuarded,
  mergeDeadlines,
} from './fencer-groups.ts'

const group = (name: string, leaseEndMs: number): FencedGroup => ({
  name,
  epoch: 1,
  volumes: [name],
  cgroups: [`/sys/fs/cgroup/${name}`],
  mounts: [`/mnt/${name}`],
  leaseEndMs,
  fenceMs: 2_000,
})
const NEVER = Number.POSITIVE_INFINITY
const known = (...groups: FencedGroup[]) => new Map(groups.map((one) => [one.name, one]))
const endsOf = (groups: ReadonlyMap<string, FencedGroup>) =>
  Object.fromEntries([...groups].map(([name, { leaseEndMs }]) => [name, leaseEndMs]))

describe('the groups that the fencer watches', () => {
  test('have the end of the lease that the file states, later or earlier', () => {
    const read = { boot: 'b1', groups: [group('later', 20_000), group('earlier', 4_000)] }
    const merged = mergeDeadlines(known(group('later', 10_000), group('earlier', 10_000)), read, 'b1')
    expect(endsOf(merged)).toEqual({ later: 20_000, earlier: 4_000 })
  })

  test('stay as they are while the file cannot be read', () => {
    const before = known(group('a', 10_000))
    expect(mergeDeadlines(before, undefined, 'b1')).toBe(before)
  })

  test('are kept without an entry, unless they need no promise', () => {
    const before = known(group('leased', 10_000), group('solo', NEVER))
    expect(endsOf(mergeDeadlines(before, { boot: 'b1', groups: [] }, 'b1'))).toEqual({ leased: 10_000 })
  })

  test('have expired in a file of another boot, unless they need no promise', () => {
    const read = { boot: 'b0', groups: [group('leased', 10_000), group('solo', NEVER)] }
    expect(endsOf(mergeDeadlines(new Map(), read, 'b1'))).toEqual({ leased: 0, solo: NEVER })
  })
})

describe('a group is guarded', () => {
  const fence: FenceReport = { epoch: 1, leaseEndMs: 0, sinceMs: 0, since: '', emptyMs: undefined }
  const report = { boot: 'b1', heartbeatMs: 1_000, groups: [group('a', 10_000)], fences: new Map() }
  const now = { boot: 'b1', ms: 1_000 + FENCER_SILENT_MS - 1 }

  test('by a fencer that lives and watches it', () => expect(isGuarded(report, 'a', now)).toBe(true))
  test.each([
    ['without a fencer', undefined, 'a', now],
    ['by a silent fencer', report, 'a', { ...now, ms: now.ms + 1 }],
    ['by a fencer of another boot', report, 'a', { ...now, boot: 'b2' }],
    ['by a fencer that does not know it', report, 'b', now],
    ['while it is fenced', { ...report, fences: new Map([['a', fence]]) }, 'a', now],
  ])('not %s', (_, found, name, at) => expect(isGuarded(found, name, at)).toBe(false))
})
