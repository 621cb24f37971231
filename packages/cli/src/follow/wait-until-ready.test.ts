// When a wait is over, on answers that are written down.

import { expect, test } from 'vitest'
import { scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { waitUntilReady } from './wait-until-ready.ts'

const RECORD = {
  ...{ kind: 'Deployment', name: 'web', image: 'registry.example.com/web:1.4.2', replicas: 1 },
  ...{ secrets: [], secretsVersion: 0, resources: { cpuMillis: 0, memoryBytes: 0 }, stopGracePeriod: '10s' },
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
  ...{ uid: 'dep_1', revision: 4, specHash: 'x', createdAt: '', updatedAt: '', residencyLabels: {} },
  status: {
    ...{ phase: 'Running', reason: '', message: '', runningRevision: 4 },
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: 'registry.example.com/web:1.4.2', digest: null },
  },
}

async function waitFor(revision: number | undefined, away = 0, longestMs = 60_000) {
  const terminal = scriptTerminal()
  const answers = { 'GET /deployments/web': RECORD, 'GET /deployments/web/placements': { items: [] } }
  const client = scriptClient(answers, { away })
  const awaited = { name: 'web', ...(revision === undefined ? {} : { revision }) }
  const exitCode = await waitUntilReady(terminal, client, [awaited], longestMs)
  return { exitCode, ...terminal.printed }
}

test.each([[4], [undefined]])('revision %s runs, as it was asked to', async (revision) =>
  expect(await waitFor(revision)).toMatchObject({ exitCode: 0, out: 'deployment/web running\n' }),
)

test('a revision that somebody replaced meanwhile is not waited for', async () => {
  const { exitCode, out, err } = await waitFor(3)
  expect({ exitCode, out }).toEqual({ exitCode: 6, out: '' })
  expect(err).toMatch(/^error: web was changed meanwhile, to revision 4: holdfast rollout status web/m)
})

/** More than the client asks for by itself. */
const AWAY = 8

test('a platform that is away for a while is waited for', async () => {
  const { exitCode, out, err } = await waitFor(4, AWAY)
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'deployment/web running\n' })
  expect(err).toContain('the platform does not answer')
})

test('one that stays away is said to be', async () => {
  const { exitCode, err } = await waitFor(4, AWAY, 0)
  expect(exitCode).toBe(7)
  expect(err).toContain('error: http://platform: nothing listens there')
})
