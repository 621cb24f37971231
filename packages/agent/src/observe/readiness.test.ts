// A replica that was already running when the agent started is in use, so one failed check does not make it unready.

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
