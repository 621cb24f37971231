// When does a running replica count as ready? One that was already running when the agent started is in use, so one failed
// check does not make it unready.

import { waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { createReadiness } from './readiness.ts'
import { createReplicaStatusTable } from './replica-status-table.ts'

const CHECK = { type: 'exec', command: ['true'], interval: '5s', startPeriod: '0s', timeout: '5s' }

test.each([
  ['a running replica becomes ready after one failed check', [1, 0], ['unverified', 'unverified', 'ready']],
  [
    'a running replica is unready after as many failed checks as its health check allows',
    [1, 1, 1, 0],
    ['unverified', 'unverified', 'unverified', 'out', 'ready'],
  ],
])('%s', async (_, exits, expected) => {
  const item = desiredItem('test/web', { healthCheck: CHECK })
  const { assignmentId: id } = item
  const statuses = createReplicaStatusTable(1)
  statuses.setItems(new Map([[id, item]]))
  const startedAt = '2026-01-01T00:00:00Z'
  const rest = { restarts: 0, health: 'starting', exitCode: null, address: null } as const
  const container = { id: 'c', state: 'running', startedAt, ...rest } as const
  statuses.update(id, { container, unverified: true })
  const seen: string[] = []
  const recordVerdict = (): void => {
    const view = statuses.view(id)
    const verdict = view?.readySince === startedAt ? 'ready' : 'out'
    seen.push(view?.unverified === true ? 'unverified' : verdict)
  }
  const left = [...exits]
  const readiness = createReadiness({
    engine: {
      async runProbe() {
        recordVerdict()
        return { exitCode: left.shift() ?? 0, output: { text: '', isCut: false } }
      },
      readEnvironment: async () => [],
    },
    statuses,
    now: () => 0,
    log: pino({ enabled: false }),
  })
  readiness.follow(id, container)
  await waitUntil(() => statuses.view(id)?.readySince === startedAt, { what: 'it is ready' })
  recordVerdict()
  expect(seen).toEqual(expected)
  readiness.close()
})

/** A run without a health check that began five seconds ago. */
function oldRun() {
  const item = desiredItem('test/web')
  const { assignmentId: id } = item
  const startedAt = '2026-01-01T00:00:00Z'
  const rest = { restarts: 0, health: 'none', exitCode: null, address: null } as const
  const container = { id: 'c', state: 'running', startedAt, ...rest } as const
  return { id, item, container, startedAt }
}

test('a run is ready after five seconds, unless it ended and the engine has not answered the inspection yet', async () => {
  const [running, ended] = [oldRun(), oldRun()]
  const statuses = createReplicaStatusTable(1)
  statuses.setItems(new Map([running, ended].map(({ id, item }) => [id, item])))
  const engine = { runProbe: () => Promise.reject(new Error('no check')), readEnvironment: async () => [] }
  const now = () => Date.parse(running.startedAt) + 5_000
  const readiness = createReadiness({ engine, statuses, now, log: pino({ enabled: false }) })
  // The run that ended is followed first, so its verdict would come first.
  for (const { id, container } of [ended, running]) {
    statuses.update(id, { container })
    readiness.follow(id, container)
  }
  readiness.forget(ended.id)
  const isReady = ({ id, startedAt }: typeof running) => statuses.view(id)?.readySince === startedAt
  await waitUntil(() => isReady(running), { what: 'it is ready' })
  expect(isReady(ended)).toBe(false)
  readiness.close()
})
