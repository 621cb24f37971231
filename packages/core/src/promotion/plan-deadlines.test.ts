import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FencedGroup, type FencerReport, mergeDeadlines } from './fencer-groups.ts'
import { type DeadlineFacts, guardOf, knownGroups, needsWriters, planDeadlines } from './plan-deadlines.ts'

const NEVER = Number.POSITIVE_INFINITY
const UNKNOWN = Number.NEGATIVE_INFINITY
const cgroupsOf = (volume: string): string[] => [`/cg/${volume}`]
const mountOf = (volume: string): string => `/mnt/${volume}`

const group = (leaseEndMs: number, ...volumes: string[]): FencedGroup => ({
  name: volumes[0] ?? '',
  epoch: 1,
  volumes,
  cgroups: volumes.flatMap(cgroupsOf),
  mounts: volumes.map(mountOf),
  leaseEndMs,
  fenceMs: 2_000,
})
const known = (...groups: FencedGroup[]) => new Map(groups.map((one) => [one.name, one]))
/** The ends of the leases of this node's volumes. */
const facts = (ends: { [volume: string]: number }, over: Partial<DeadlineFacts> = {}): DeadlineFacts => ({
  primaries: Object.entries(ends).map(([volume, leaseEndMs]) => ({ volume, epoch: 1, leaseEndMs })),
  together: [],
  written: [],
  fenceMs: 2_000,
  cgroupsOf,
  mountOf,
  ...over,
})
const reportOf = (groups: readonly FencedGroup[], over: Partial<FencerReport> = {}): FencerReport => ({
  boot: 'b1',
  heartbeatMs: 0,
  groups,
  fences: new Map(),
  ...over,
})
const planned = (...args: Parameters<typeof planDeadlines>) =>
  planDeadlines(...args).map(({ volumes, leaseEndMs }) => [volumes.join(), leaseEndMs])

describe('the deadlines of an agent', () => {
  test('list each volume, also without a promise, and volumes with one writer as one group with the earliest end', () => {
    const given = facts({ c: 70, b: 50, a: 60, d: NEVER }, { together: [['b', 'a'], ['d']] })
    expect(planDeadlines(known(), given, undefined)).toEqual([
      group(50, 'a', 'b'),
      group(70, 'c'),
      group(NEVER, 'd'),
    ])
  })

  test.each([
    ['keep a known end while the lease is unknown', [group(50, 'a')], { a: UNKNOWN }, [['a', 50]]],
    ['have expired if a lease is needed and none was known', [group(NEVER, 'a')], { a: UNKNOWN }, [['a', 0]]],
    ['follow a lease that ends earlier', [group(50, 'a')], { a: 40 }, [['a', 40]]],
    ['have no end once no promise is needed', [group(50, 'a')], { a: NEVER }, [['a', NEVER]]],
  ] as const)('%s', (_, before, ends, expected) => {
    expect(planned(known(...before), facts(ends), undefined)).toEqual(expected)
  })

  test.each([
    ['a known end', 50, 50],
    ['that none was needed', NEVER, NEVER],
  ])('keep %s if the promises were lost', (_, before, expected) => {
    const primaries = [{ volume: 'a', epoch: 1, leaseEndMs: UNKNOWN, isForgotten: true }]
    expect(planned(known(group(before, 'a')), facts({}, { primaries }), undefined)).toEqual([['a', expected]])
    expect(planned(known(), facts({}, { primaries }), undefined)).toEqual([['a', 0]])
  })

  test('keep the end of a volume that has left the node while a container may write it', () => {
    const before = known(group(50, 'a'))
    expect(planned(before, facts({}, { written: undefined }), undefined)).toEqual([['a', 50]])
    expect(planned(before, facts({}, { written: [['a']] }), undefined)).toEqual([['a', 50]])
  })

  test('release a group by an entry without an end, and omit it only once the fencer has reported that', () => {
    const [before, released] = [known(group(50, 'a')), group(NEVER, 'a')]
    expect(planDeadlines(before, facts({}), undefined)).toEqual([released])
    expect(planDeadlines(known(released), facts({}), reportOf([group(50, 'a')]))).toEqual([released])
    expect(planDeadlines(known(released), facts({}), reportOf([]))).toEqual([released])
    expect(planDeadlines(known(released), facts({}), reportOf([released]))).toEqual([])
  })

  test('cover a divided group as one while a container writes all of it', () => {
    const before = known(group(50, 'a', 'b'))
    const ends = { a: 60, b: 70 }
    expect(planned(before, facts(ends, { written: [['a', 'b']] }), undefined)).toEqual([['a,b', 60]])
    expect(planned(before, facts(ends), undefined)).toEqual([
      ['a', 60],
      ['b', 70],
    ])
  })

  test('release the groups that a united group replaces', () => {
    const before = known(group(50, 'a'), group(60, 'b'))
    expect(planned(before, facts({ a: 70, b: 80 }, { together: [['a', 'b']] }), undefined)).toEqual([
      ['a,b', 70],
      ['b', NEVER],
    ])
  })

  test('depend on the containers only if a group with a lease would be divided or released', () => {
    const given = { ...facts({ a: 1, b: 1 }), together: [['a', 'b']] }
    expect(needsWriters(known(group(50, 'a', 'b')), given)).toBe(false)
    expect(needsWriters(known(group(50, 'a', 'b')), { ...given, together: [] })).toBe(true)
    expect(needsWriters(known(group(50, 'c')), given)).toBe(true)
    expect(needsWriters(known(group(NEVER, 'c')), given)).toBe(false)
  })

  test('include groups that only the fencer knows, of this boot', () => {
    const report = reportOf([group(50, 'a'), group(50, 'b')])
    expect([...knownGroups([group(60, 'b')], report, 'b1').values()]).toEqual([
      group(50, 'a'),
      group(60, 'b'),
    ])
    expect([...knownGroups([], report, 'b2')]).toEqual([])
  })
})

const VOLUMES = ['a', 'b', 'c'] as const
const end = fc.constantFrom(NEVER, UNKNOWN, 10, 20, 30)
const set = fc.subarray([...VOLUMES], { minLength: 1 })
const step = fc.record({
  ends: fc.dictionary(fc.constantFrom(...VOLUMES), end),
  together: fc.array(set, { maxLength: 2 }),
  written: fc.option(fc.array(set, { maxLength: 2 }), { nil: undefined }),
  /** Whether the fencer reads the file and reports after this step. */
  isRead: fc.boolean(),
})

test('an end that the fencer knows never vanishes while a writer may exist that needs a promise', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      let [file, watched, report]: [FencedGroup[], ReturnType<typeof known>, FencerReport | undefined] = [
        [],
        known(),
        undefined,
      ]
      for (const { ends, together, written, isRead } of steps) {
        const before = knownGroups(file, report, 'b1')
        const given = facts(ends, {
          together,
          written: needsWriters(before, facts(ends, { together })) ? written : [],
        })
        file = planDeadlines(before, given, report)
        // A fencer that reads this file, whatever it has read before.
        const merged = mergeDeadlines(watched, { boot: 'b1', groups: file }, 'b1')
        for (const { volumes, leaseEndMs } of before.values())
          for (const volume of leaseEndMs === NEVER ? [] : volumes) {
            const mayBeWritten =
              given.written === undefined || given.written.some((one) => one.includes(volume))
            const needsPromise = volume in ends ? ends[volume] !== NEVER : mayBeWritten
            const guards = [...merged.values()].filter((one) => one.cgroups.includes(`/cg/${volume}`))
            if (needsPromise) expect(guards.some((one) => one.leaseEndMs !== NEVER)).toBe(true)
          }
        // The fencer never watches a group that the file does not list.
        expect([...merged.keys()].filter((name) => !file.some((one) => one.name === name))).toEqual([])
        if (!isRead) continue
        watched = new Map(merged)
        report = reportOf([...watched.values()])
      }
    }),
  )
})

describe('writers of volumes are', () => {
  const now = { boot: 'b1', ms: 1_000 }
  const report = reportOf([group(50, 'a', 'b'), group(NEVER, 'c')])
  const fences = new Map([['a', { epoch: 1, leaseEndMs: 50, sinceMs: 0, since: '', emptyMs: undefined }]])
  test.each([
    ['guarded by a group with an end not later than theirs', report, ['a', 'b'], 50, 'guarded'],
    ['not guarded by a later end', report, ['a'], 49, 'unknown'],
    ['not guarded by a group without an end', report, ['c'], 50, 'unknown'],
    ['not guarded by two groups', report, ['a', 'c'], 50, 'unknown'],
    ['not guarded without a fencer', undefined, ['a'], 50, 'fencer_silent'],
    ['not guarded by a silent fencer', { ...report, heartbeatMs: -2_000 }, ['a'], 50, 'fencer_silent'],
    ['fenced', { ...report, fences }, ['b'], 50, 'fenced'],
  ] as const)('%s', (_, given, volumes, leaseEndMs, expected) =>
    expect(guardOf(given, volumes, leaseEndMs, now)).toBe(expected),
  )
})
