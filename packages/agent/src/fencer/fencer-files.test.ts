import type { FencedGroup, FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { describe, expect, test } from 'vitest'
import { decodeDeadlines, decodeReport, encodeDeadlines, encodeReport } from './fencer-files.ts'

const GROUP: FencedGroup = {
  name: 'vol_a',
  epoch: 3,
  volumes: ['vol_a', 'vol_b'],
  cgroups: ['/sys/fs/cgroup/holdfast/vol_a'],
  mounts: ['/var/lib/holdfast-agent/volumes/vol_a'],
  leaseEndMs: 12_000,
  fenceMs: 2_000,
}
const DEADLINES = {
  boot: 'b1',
  groups: [GROUP, { ...GROUP, name: 'solo', leaseEndMs: Number.POSITIVE_INFINITY }],
}
const FENCE = { epoch: 3, leaseEndMs: 12_000, sinceMs: 10_000, since: '2026-11-17T12:00:00.000Z' }

describe('the files of the fencer', () => {
  test('deadlines are read as they were written, without an end if no promise is needed', () =>
    expect(decodeDeadlines(encodeDeadlines(DEADLINES))).toEqual(DEADLINES))

  test.each([10_050, undefined])('a report is read as it was written, empty at %s', (emptyMs) => {
    const report: FencerReport = {
      ...DEADLINES,
      heartbeatMs: 10_100,
      fences: new Map([['vol_a', { ...FENCE, emptyMs }]]),
    }
    expect(decodeReport(encodeReport(report))).toEqual(report)
  })

  test('a file that was cut off anywhere is rejected', () => {
    const text = encodeDeadlines(DEADLINES)
    for (let length = 0; length < text.length; length += 1)
      expect(() => decodeDeadlines(text.slice(0, length))).toThrow()
  })

  test.each([
    ['a relative cgroup', { cgroups: ['holdfast/vol_a'] }],
    ['the root as a cgroup', { cgroups: ['/'] }],
    ['a cgroup through a parent', { cgroups: ['/sys/fs/cgroup/holdfast/../..'] }],
    ['a relative mount point', { mounts: ['volumes/vol_a'] }],
    ['an empty name', { name: '' }],
    ['an epoch that is no number', { epoch: Number.NaN }],
  ])('%s is rejected with the whole file', (_, over) =>
    expect(() => decodeDeadlines(encodeDeadlines({ boot: 'b1', groups: [{ ...GROUP, ...over }] }))).toThrow(),
  )

  test('the end of a lease is a number or null, never absent', () => {
    const { leaseEndMs: _, ...rest } = GROUP
    expect(() => decodeDeadlines(JSON.stringify({ boot: 'b1', groups: [rest] }))).toThrow()
  })
})
