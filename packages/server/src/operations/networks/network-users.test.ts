import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec, cachedRecords, someTenant } from '../../store/records.fixture.ts'
import { deployments } from '../../store/records.ts'
import { namesOfUsers } from './network-users.ts'

const tenant = someTenant()

test('a network that only a running canary names is used by its deployment', () => {
  const { store, put } = cachedRecords(tenant)
  const canary = aCanary({ networks: ['beta'] })
  put(deployments, 'web', aDeployment('web', { spec: { ...aSpec('web'), networks: ['main'] }, canary }))
  expect(namesOfUsers(store, tenant, 'beta')).toEqual(['web'])
  expect(namesOfUsers(store, tenant, 'main')).toEqual(['web'])
  put(deployments, 'web', aDeployment('web', { canary: { ...canary, phase: 'aborted' } }))
  expect(namesOfUsers(store, tenant, 'beta')).toEqual([])
})
