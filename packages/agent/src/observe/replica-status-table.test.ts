// Which changes of a replica are reported at once, and which wait for the next report?

import type { Observation } from '@holdfast/contract'
import type { SeenContainer } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import { afterEach, expect, test, vi } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { createReplicaStatusTable, type ReplicaStatusTable, type ViewChange } from './replica-status-table.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`
const ITEMS = [desiredItem(IMAGE), desiredItem(IMAGE)]
const [A, B] = ITEMS.map(({ assignmentId }) => assignmentId)
const running: SeenContainer = {
  id: 'c1',
  state: 'running',
  startedAt: '2026-01-01T00:00:00Z',
  exitCode: null,
  restarts: 0,
  health: 'none',
  address: null,
}

function newTable(holdMs: number): { statuses: ReplicaStatusTable; messages: Observation[][] } {
  const messages: Observation[][] = []
  const statuses = createReplicaStatusTable(1, holdMs)
  statuses.reportTo((batch) => messages.push([...batch]))
  statuses.setItems(new Map(ITEMS.map((item) => [item.assignmentId, item])))
  return { statuses, messages }
}
const update = (statuses: ReplicaStatusTable, id: typeof A, change: ViewChange): void => {
  if (id !== undefined) statuses.update(id, change)
}
const short = (messages: Observation[][]): string[][] =>
  messages.map((batch) => batch.map(({ state, reason, gone }) => `${state}${reason}${gone ? ' gone' : ''}`))
const FOREVER = 60_000
afterEach(() => vi.useRealTimers())

test('reports only the last of several steps of a replica, together with the other replicas', async () => {
  const { statuses, messages } = newTable(20)
  update(statuses, A, { activity: 'pulling' })
  update(statuses, B, { activity: 'starting' })
  update(statuses, A, { activity: 'starting' })
  update(statuses, A, { container: running })
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['running', 'starting']])
  const numbers = messages.flat().map(({ seq }) => seq)
  // The first replica changed last, so its report has the highest sequence number.
  expect(numbers[0]).toBeGreaterThan(numbers[1] ?? 0)
})

const news: readonly [string, ViewChange, string][] = [
  ['readiness', { container: running, readySince: running.startedAt ?? '' }, 'ready'],
  ['trouble', { trouble: 'image_pull_failed' }, 'pullingimage_pull_failed'],
  ['a refusal', { trouble: 'refused_by_agent' }, 'failedrefused_by_agent'],
  ['an unhealthy container', { container: { ...running, health: 'unhealthy' } }, 'runningunhealthy'],
  ['a restart', { container: { ...running, restarts: 1 } }, 'running'],
]
test.each(news)('%s is reported at once, together with held changes', async (_, change, reported) => {
  const { statuses, messages } = newTable(FOREVER)
  update(statuses, B, { activity: 'starting' })
  update(statuses, A, change)
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['starting', reported]])
})

test('a removed container is reported as gone at once', async () => {
  const { statuses, messages } = newTable(FOREVER)
  statuses.setItems(
    new Map(ITEMS.map((item) => [item.assignmentId, { ...item, desired: 'removed' as const }])),
  )
  update(statuses, A, { container: 'absent' })
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['stopped gone']])
})

test('holds steps again after an immediate report', async () => {
  const { statuses, messages } = newTable(30)
  update(statuses, A, { trouble: 'create_failed' })
  await waitUntil(() => messages.length === 1, { what: 'the trouble' })
  update(statuses, A, { trouble: '', activity: 'starting' })
  update(statuses, A, { container: running })
  await waitUntil(() => messages.length === 2, { what: 'the next message' })
  expect(short(messages)).toEqual([['startingcreate_failed'], ['running']])
})

/** A container that crashes once in two seconds for two minutes; returns what was reported of it. */
function crashForLong(): { messages: Observation[][]; statuses: ReplicaStatusTable } {
  vi.useFakeTimers()
  const { statuses, messages } = newTable(250)
  for (let restarts = 1; restarts <= 60; restarts += 1) {
    update(statuses, A, { container: { ...running, state: 'restarting', exitCode: 1, restarts } })
    vi.advanceTimersByTime(1000)
    update(statuses, A, { container: { ...running, startedAt: `2026-01-01T00:00:${restarts}Z`, restarts } })
    vi.advanceTimersByTime(1000)
  }
  return { statuses, messages }
}

test('folds the reports of a container that crashes for long, and the newest arrives', () => {
  const { messages } = crashForLong()
  // The burst, then one report every 15 seconds.
  expect(messages.length).toBeLessThanOrEqual(8 + 120 / 15)
  // The first three exits decide a rollout, so each is reported at once.
  expect(
    messages
      .flat()
      .slice(0, 5)
      .map(({ restarts }) => restarts),
  ).toEqual([1, 1, 2, 2, 3])
  vi.advanceTimersByTime(20_000)
  expect(messages.at(-1)).toMatchObject([{ restarts: 60, state: 'running', reason: '' }])
  const numbers = messages.flat().map(({ seq }) => seq)
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
})

test('reports readiness, an unhealthy container and the end at once, also of a container that crashed for long', () => {
  const { statuses, messages } = crashForLong()
  const last = (): string => short(messages).at(-1)?.join() ?? ''
  const change = (given: ViewChange): string => {
    update(statuses, A, given)
    vi.advanceTimersByTime(1)
    return last()
  }
  const up = { ...running, restarts: 61 }
  expect(change({ container: up, readySince: running.startedAt ?? '' })).toBe('ready')
  expect(change({ container: { ...up, health: 'unhealthy' } })).toBe('readyunhealthy')
  expect(change({ activity: 'stopping' })).toBe('stopping')
})

test('reports another replica without delay while the reports of a crashing one are folded', () => {
  const { statuses, messages } = crashForLong()
  const before = messages.length
  update(statuses, B, { trouble: 'create_failed' })
  vi.advanceTimersByTime(1)
  expect(short(messages.slice(before)).flat()).toContain('startingcreate_failed')
})
