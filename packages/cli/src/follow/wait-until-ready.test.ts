// The conditions that end a `--wait`, with scripted API responses.

import { defined } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { waitUntilReady } from './wait-until-ready.ts'

const RECORD = {
  kind: 'Deployment',
  name: 'web',
  image: 'registry.example.com/web:1.4.2',
  replicas: 1,
  secrets: [],
  secretsVersion: 0,
  resources: { cpuMillis: 0, memoryBytes: 0 },
  stopGracePeriod: '10s',
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
  uid: 'dep_1',
  revision: 4,
  specHash: 'x',
  createdAt: '',
  updatedAt: '',
  residencyLabels: {},
  status: {
    phase: 'Running',
    reason: '',
    message: '',
    runningRevision: 4,
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: 'registry.example.com/web:1.4.2', digest: null },
  },
}

async function waitFor(revision: number | undefined, refusedConnections = 0, longestMs = 60_000) {
  const terminal = scriptTerminal()
  const responses = { 'GET /deployments/web': RECORD, 'GET /deployments/web/placements': { items: [] } }
  const client = scriptClient(responses, { refusedConnections })
  const awaited = { name: 'web', ...defined({ revision }) }
  const exitCode = await waitUntilReady(terminal, client, [awaited], longestMs)
  return { exitCode, ...terminal.printed }
}

test.each([[4], [undefined]])('succeeds when the awaited revision %s is running', async (revision) =>
  expect(await waitFor(revision)).toMatchObject({ exitCode: 0, out: 'deployment/web running\n' }),
)

test('fails with a conflict when a newer revision replaced the awaited one', async () => {
  const { exitCode, out, err } = await waitFor(3)
  expect({ exitCode, out }).toEqual({ exitCode: 6, out: '' })
  expect(err).toMatch(
    /^error: web was changed to revision 4 by someone else; follow it with holdfast rollout status web/m,
  )
})

/** Number of refused connections: greater than the retries of the two API calls at once. */
const REFUSED_CONNECTIONS = 16

test('keeps waiting while the platform is unavailable', async () => {
  const { exitCode, out, err } = await waitFor(4, REFUSED_CONNECTIONS)
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'deployment/web running\n' })
  expect(err).toContain('the platform does not respond')
})

test('fails when the platform is still unavailable at the timeout', async () => {
  const { exitCode, err } = await waitFor(4, REFUSED_CONNECTIONS, 0)
  expect(exitCode).toBe(7)
  expect(err).toContain('error: http://platform: connection refused')
})

const EXITED = {
  replica: 1,
  nodeId: 'node_1',
  nodeName: 'n1',
  revision: 4,
  reason: 'exited',
  cause: 'exited with code 42',
  restarts: 3,
  lastExit: { code: 42, at: '2026-01-31T11:59:57Z' },
}
const FAILED = {
  ...RECORD.status,
  phase: 'Degraded',
  reason: 'exited',
  message: 'Revision 4 failed: replica 1 exited three times. Cause: exited with code 42.',
  replicas: { desired: 1, placed: 1, ready: 0 },
  runningRevision: null,
  failure: { revision: 4, replica: 1, reason: 'exited', cause: 'exited with code 42', at: '' },
}
const lineOf = (text: string, mark: object = {}) =>
  `${JSON.stringify({ time: 'then', replica: 1, node: 'n1', stream: 'stderr', text, ...mark })}\n`
const LINE = lineOf('no database')
/** A canary may have failed before, in the replica of the same number. */
const OF_CANARY = lineOf('of the canary', { canary: true })

async function waitForFailure(status: object, containers: readonly object[]) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /deployments/web': { ...RECORD, status },
    'GET /deployments/web/placements': { items: [] },
    'GET /deployments/web/why': {
      decidedAt: null,
      phase: '',
      summary: '',
      containers,
      candidates: [],
      cure: [],
    },
    'GET /deployments/web/logs?tail=10&replica=1': LINE,
    'GET /deployments/web/logs?previous=true&tail=10&replica=1': `${OF_CANARY}${LINE.replace('no database', 'kept')}`,
  })
  const exitCode = await waitUntilReady(terminal, client, [{ name: 'web', revision: 4 }], 60_000)
  return { exitCode, ...terminal.printed }
}

test('ends when the revision failed, with the cause, the last log lines and the next command', async () => {
  const { exitCode, out, err } = await waitForFailure(FAILED, [EXITED])
  expect({ exitCode, out }).toEqual({ exitCode: 4, out: 'deployment/web not ready\n' })
  expect(err.slice(err.indexOf('web: Degraded: '))).toBe(`web: Degraded: ${FAILED.message}
  replica 1 on n1: exited with code 42 3s ago, 3 restarts
last log lines of replica 1:
  no database
next: holdfast logs web --replica 1
`)
})

test('shows the kept log of a failed container that is gone, and no log of another revision', async () => {
  const { err } = await waitForFailure({ ...FAILED, reason: 'rollback' }, [])
  expect(err).not.toContain('no database')
  expect(err).toMatch(
    /^last log lines of replica 1:\n {2}kept\nnext: holdfast logs web --replica 1 --previous$/m,
  )
})
