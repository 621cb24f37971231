import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec, cachedRecords, someTenant } from '../../store/records.fixture.ts'
import { deployments, type StoredCanary } from '../../store/records.ts'
import { listConsumers } from './read-secrets.ts'

const tenant = someTenant()
const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'process', rotation: 'restart' }]
const CANARY_ONLY = { name: 'API', vault_path: 'deployments/api', anchor: 'process', rotation: 'restart' }

/** The consumers of a label, for a deployment whose canary refers to one more secret. */
async function consumersOf(label: string, phase: StoredCanary['phase']) {
  const { store, put } = cachedRecords(tenant)
  const canary = aCanary({ secrets: [...secrets, CANARY_ONLY] }, { phase, pins: { db: 2, api: 5 } })
  put(deployments, 'web', aDeployment('web', { spec: { ...aSpec('web'), secrets }, pins: { db: 1 }, canary }))
  const listed = await listConsumers({ ...store, fresh: async () => {} }, tenant, label, { limit: 10 })
  return listed.ok ? listed.value.items.map(({ version, canary: mark }) => [version, mark]) : []
}

test('the consumers of a secret include running canaries, with the versions that they have pinned', async () => {
  expect(await consumersOf('db', 'observing')).toEqual([
    [1, undefined],
    [2, true],
  ])
  expect(await consumersOf('api', 'progressing')).toEqual([[5, true]])
})

test('the consumers of a secret leave out canaries that have ended', async () => {
  expect(await consumersOf('db', 'aborted')).toEqual([[1, undefined]])
  expect(await consumersOf('api', 'aborted')).toEqual([])
})
