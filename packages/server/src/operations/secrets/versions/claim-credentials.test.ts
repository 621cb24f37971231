import { consumerOf } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { underTaint } from '../../../ports/taint.ts'
import { someTenant } from '../../../store/records.fixture.ts'
import { credentials } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { claimCredentials, newCredential } from './claim-credentials.ts'

test('a version whose value equals the name of another consumer is listed', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  const name = 'billing-worker-production'
  const address = inTenant(tenant, credentials, 'db')
  await write(store, (transaction) =>
    transaction.put(address, {
      ...newCredential('deployments', 'db'),
      consumers: [consumerOf('deployment', name)],
    }),
  )
  await store.fresh()
  const spec = {
    name: 'web',
    secrets: [{ name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }],
  }
  const version = { label: 'db', version: 1, keys: ['user'], createdAt: '', slot: undefined }
  await underTaint({ values: { user: name } }, () =>
    write(store, (transaction) => claimCredentials(transaction, tenant, undefined, spec, [version])),
  )
  await store.fresh()
  expect(store.get(address)?.record.versions).toHaveLength(1)
})
