// `holdfast rollout canary start -f` against scripted API responses.

import { createClient } from '@holdfast/client'
import type { JsonObject } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { invocation, scriptTerminal } from '../../../terminal/scripted-terminal.fixture.ts'
import { canaryStart } from './canary-start.ts'

const ID = 'vol_01JCPZ0000000000000000000A'
const RECORD = {
  ...{ kind: 'Deployment', name: 'web', image: 'registry.example.com/web:1.4.2', replicas: 1, secrets: [] },
  ...{ secretsVersion: 0, resources: { cpuMillis: 0, memoryBytes: 0 }, stopGracePeriod: '10s' },
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
  ...{ uid: 'dep_1', revision: 4, specHash: 'x', createdAt: '', updatedAt: '', residencyLabels: {} },
  status: {
    ...{ phase: 'Running', reason: '', message: '', runningRevision: 4 },
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: 'registry.example.com/web:1.4.2', digest: null },
  },
}
const VOLUME = {
  ...{ id: ID, name: 'data', class: 'replicated', sizeBytes: 1, replicas: 0, phase: 'Ready', reason: null },
  ...{ primary: null, copies: [], fencedSince: null, promotions: [], usedBytes: null, measuredAt: null },
  ...{ consumers: [], createdAt: '', revision: 1 },
}
const RESPONSES: { readonly [request: string]: object } = {
  'GET /deployments/web': RECORD,
  'POST /deployments/web/canary': { deployment: RECORD, alterations: [], warnings: [] },
}

/** Runs the command with a manifest; returns its exit code, its errors and the change that it sent. */
async function startWith(manifest: string) {
  let change: JsonObject | undefined
  const client = createClient({
    baseUrl: 'http://platform',
    runtime: {
      wait: async () => {},
      async fetch(url, { method, body }) {
        const request = `${method} ${url.replace('http://platform/api/v1', '')}`
        const isVolumes = request.includes('/volumes?')
        const response = isVolumes ? { items: [VOLUME], nextCursor: null } : RESPONSES[request]
        if (response === undefined) throw new Error(`unexpected request: ${request}`)
        if (method === 'POST') change = JSON.parse(String(body)).change
        return new Response(JSON.stringify(response), { status: 200 })
      },
    },
  })
  const terminal = { ...scriptTerminal(), readInput: async () => new TextEncoder().encode(manifest) }
  const code = await canaryStart.run(invocation(terminal, ['web'], { filename: '-' }), client)
  return { code, err: terminal.printed.err, change }
}

test.each([
  ['another deployment', 'kind: Deployment\nname: api\nlabels: {a: b}\n', 'another deployment than web'],
  ['a job', 'kind: Job\nname: web\nlabels: {a: b}\n', 'describes no deployment'],
])('a canary does not start from the manifest of %s', async (_of, manifest, text) => {
  const { code, err, change } = await startWith(manifest)
  expect([code, change]).toEqual([2, undefined])
  expect(err).toContain(text)
})

test.each([
  ['with kind and name', 'kind: Deployment\nname: web\nlabels: {a: b}\n'],
  ['with the changed fields only', 'labels: {a: b}\n'],
])('a canary starts from a manifest %s', async (_of, manifest) => {
  expect(await startWith(manifest)).toMatchObject({ code: 0, change: { labels: { a: 'b' } } })
})

test('a canary is sent with the ids of the volumes that its manifest names', async () => {
  const { code, change } = await startWith(
    'volumes:\n  - {volume: data, target: /data, type: volume, readOnly: true}\n',
  )
  expect(code).toBe(0)
  expect(change?.volumes).toMatchObject([{ volume: ID }])
})
