import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { composeEndpoints } from './compose-endpoints.ts'
import { load, MINIMAL } from './config/sample-config.fixture.ts'

/** Two create something below an existing object; a rotation is a sequence of phases and names no revision. */
const WITHOUT = [
  'POST /api/v1/deployments/{name}/exec',
  'POST /api/v1/deployments/{name}/secrets/rotate',
  'POST /api/v1/tenants/{tenant}/tokens',
]

test('every change of an object that exists accepts If-Match, apart from the known ones', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const loaded = load(MINIMAL)
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults))
  const given = { config: loaded.config, store, secrets: {}, quotas: {}, pressure: {}, allowed: new Set() }
  const endpoints = composeEndpoints(given as unknown as Parameters<typeof composeEndpoints>[0])
  const changes = endpoints.filter(({ method, path }) => method !== 'GET' && path.includes('{'))
  const without = changes.filter(({ headers }) => !headers.includes('If-Match'))
  expect(changes.length).toBeGreaterThanOrEqual(30)
  expect(without.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(WITHOUT)
})
