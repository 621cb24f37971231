// What is said at once, and what waits for the next word.

import type { Observation } from '@holdfast/contract'
import type { SeenContainer } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { createReplicaStatusTable, type ReplicaStatusTable, type ViewChange } from './replica-status-table.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`
const ITEMS = [desiredItem(IMAGE), desiredItem(IMAGE)]
const [A, B] = ITEMS.map(({ assignmentId }) => assignmentId)
const running: SeenContainer = {
  ...{ id: 'c1', state: 'running', startedAt: '2026-01-01T00:00:00Z' },
  ...{ exitCode: null, restarts: 0, health: 'none', address: null },
}

function newBoard(holdMs: number): { statuses: ReplicaStatusTable; messages: Observation[][] } {
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

test('of several steps the last is said, with those of the others', async () => {
  const { statuses, messages } = newBoard(20)
  update(statuses, A, { activity: 'pulling' })
  update(statuses, B, { activity: 'starting' })
  update(statuses, A, { activity: 'starting' })
  update(statuses, A, { container: running })
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['running', 'starting']])
  const numbers = messages.flat().map(({ seq }) => seq)
  // The last word of the first is the newest of all.
  expect(numbers[0]).toBeGreaterThan(numbers[1] ?? 0)
})

const news: readonly [string, ViewChange, string][] = [
  ['readiness', { container: running, readySince: running.startedAt ?? '' }, 'ready'],
  ['trouble', { trouble: 'image_pull_failed' }, 'pullingimage_pull_failed'],
  ['a refusal', { trouble: 'refused_by_agent' }, 'failedrefused_by_agent'],
  ['an unhealthy container', { container: { ...running, health: 'unhealthy' } }, 'runningunhealthy'],
  ['a restart', { container: { ...running, restarts: 1 } }, 'running'],
]
test.each(news)('%s is said at once, and takes along what was held', async (_, change, said) => {
  const { statuses, messages } = newBoard(FOREVER)
  update(statuses, B, { activity: 'starting' })
  update(statuses, A, change)
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['starting', said]])
})

test('that none is left is said at once', async () => {
  const { statuses, messages } = newBoard(FOREVER)
  statuses.setItems(
    new Map(ITEMS.map((item) => [item.assignmentId, { ...item, desired: 'removed' as const }])),
  )
  update(statuses, A, { container: 'absent' })
  await waitUntil(() => messages.length > 0, { what: 'a message' })
  expect(short(messages)).toEqual([['stopped gone']])
})

test('after a word that was said at once steps are held again', async () => {
  const { statuses, messages } = newBoard(30)
  update(statuses, A, { trouble: 'create_failed' })
  await waitUntil(() => messages.length === 1, { what: 'the trouble' })
  update(statuses, A, { trouble: '', activity: 'starting' })
  update(statuses, A, { container: running })
  await waitUntil(() => messages.length === 2, { what: 'the next message' })
  expect(short(messages)).toEqual([['startingcreate_failed'], ['running']])
})
