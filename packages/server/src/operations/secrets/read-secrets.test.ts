import { asTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aDeployment, aJob, aSpec } from '../../store/records.fixture.ts'
import { credentials, deployments, jobs } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { listConsumers } from './read-secrets.ts'

const TENANT = asTenantId('00000000-0000-4000-8000-000000000001')
const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }]

test('the consumers of a secret include jobs that have not ended', async () => {
  const { id } = aJob()
  const records = new Map<unknown, readonly object[]>([
    [deployments, [aDeployment('web', { spec: { ...aSpec('web'), secrets }, pins: { db: 1 } })]],
    [jobs, [aJob({ secrets }, { pins: { db: 2 } }), aJob({ secrets }, { phase: 'succeeded' })]],
    [credentials, [{ initial: 1 }]],
  ])
  const list = (kind: unknown) => (records.get(kind) ?? []).map((record) => ({ record, modRevision: 1 }))
  const get = ({ collection }: { readonly collection: unknown }) => list(collection)[0]
  const store = { list, get, fresh: async () => {} } as unknown as Store
  const page = await listConsumers(store, TENANT, 'db', { limit: 100 })
  expect(page.ok && page.value.items).toMatchObject([
    { deployment: `job/${id}`, uid: id, secret: 'DB', version: 2 },
    { deployment: 'web', uid: 'dep_0', secret: 'DB', version: 1 },
  ])
})
