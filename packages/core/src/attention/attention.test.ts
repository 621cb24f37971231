import type { AttentionSeverity } from '@holdfast/contract'
import { expect, test } from 'vitest'
import {
  deploymentAttention,
  jobAttention,
  type Needed,
  nodeAttention,
  quotaAttention,
  rotationAttention,
  volumeAttention,
  worstFirst,
} from './attention.ts'

const severities = (items: readonly Needed[]) => items.map(({ severity, code }) => `${severity} ${code}`)

test.each([
  ['Running', 1, []],
  ['Progressing', 0, []],
  ['Stopped', 0, []],
  ['Deleting', 0, []],
  ['Pending', 0, ['error unschedulable']],
  ['Waiting', 0, ['warning unschedulable']],
  ['Degraded', 0, ['error unschedulable']],
  ['Degraded', 2, ['warning unschedulable']],
] as const)('a deployment that is %s with %i ready replicas', (phase, ready, expected) => {
  const status = { phase, reason: 'unschedulable', message: 'm', replicas: { desired: 3, placed: 3, ready } }
  expect(severities(deploymentAttention({ name: 'web', uid: 'u', status, since: null }))).toEqual(expected)
})

test.each([
  ['ready', []],
  ['pending', []],
  ['unreachable', ['warning unreachable']],
  ['failed', ['error failed']],
  ['degraded', ['warning pool_changed']],
] as const)('a node that is %s', (status, expected) => {
  const node = { id: 'node_1' as never, name: 'acme-1', status, reason: 'pool_changed' }
  const found = nodeAttention({ node, since: 's', replicas: 1, failedAt: 'later' })
  expect(severities(found)).toEqual(expected)
  for (const { text } of found) if (status !== 'degraded') expect(text).toContain('1 replica is on it')
})

test.each([
  ['Ready', null, []],
  ['Resizing', null, []],
  ['Pending', null, []],
  ['Pending', 'no_node', ['warning no_node']],
  ['Degraded', 'copy_missing', ['warning copy_missing']],
  ['Lost', 'node_failed', ['error node_failed']],
])('a volume that is %s for %s', (phase, reason, expected) => {
  expect(severities(volumeAttention({ id: 'v', name: 'data', phase, reason, since: null }))).toEqual(expected)
})

test('a job needs a person for a day after its failure, and while it has no node', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  const job = { id: 'j', name: 'report', reason: 'exited', message: 'm', createdAt: '2026-01-01T00:00:00Z' }
  const ended = (phase: string, finishedAt: string) => jobAttention({ ...job, phase, finishedAt }, now)
  expect(severities(ended('failed', '2026-01-01T12:00:00Z'))).toEqual(['warning exited'])
  expect(ended('failed', '2025-12-31T12:00:00Z')).toEqual([])
  expect(ended('succeeded', '2026-01-01T12:00:00Z')).toEqual([])
  const waiting = { ...job, phase: 'pending', reason: 'unschedulable', finishedAt: null }
  expect(severities(jobAttention(waiting, now))).toEqual(['warning unschedulable'])
})

test('a quota needs a person when it is used up, and not when it is 0', () => {
  const of = (used: number, limit: number) => quotaAttention({ items: [{ kind: 'nodes', used, limit }] })
  expect(severities([...of(3, 3), ...of(2, 3), ...of(0, 0)])).toEqual(['warning quota_reached'])
})

test('the worst is first, then what lasts longest, and what has no time last', () => {
  const item = (severity: AttentionSeverity, since: string | null): Needed => ({
    ...rotationAttention({ path: `${severity} ${since}`, phase: 'overlap', since: '' }),
    severity,
    since,
  })
  const sorted = [
    item('error', '2026-01-01'),
    item('error', '2026-01-02'),
    item('error', null),
    item('warning', '2025-01-01'),
    item('info', null),
  ]
  expect(worstFirst(sorted.toReversed())).toEqual(sorted)
})
