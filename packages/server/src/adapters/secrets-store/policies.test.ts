import { isTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { apiPolicy, brokerPolicy, tenantPolicy } from './policies.ts'

const TENANT = '7f8e0a52-6f1b-4e3a-9f63-2a1b0c9d8e7f'

test('the policy of the API grants no read on data', () => {
  const { path } = JSON.parse(apiPolicy(['deployments', 'resources', 'extra']))
  const onData = Object.keys(path).filter((rule) => rule.includes('/data/'))
  expect(onData.sort()).toEqual([
    '+/data/deployments/*',
    '+/data/extra/*',
    '+/data/registries/*',
    '+/data/resources/*',
  ])
  for (const rule of onData) {
    const patch = rule.includes('registries') ? [] : ['patch']
    expect(path[rule].capabilities).toEqual(['create', 'update', ...patch])
  }
})

test('the policy of a tenant reads the granted namespaces of one mount and nothing else', () => {
  if (!isTenantId(TENANT)) throw new TypeError(TENANT)
  const { path } = JSON.parse(tenantPolicy(TENANT, ['deployments']))
  expect(path).toEqual({
    [`kv-${TENANT}/data/deployments/*`]: { capabilities: ['read'] },
    [`kv-${TENANT}/data/registries/*`]: { capabilities: ['read'] },
  })
})

test('the broker may create child tokens, and renew its own token and secret id', () => {
  const paths = Object.keys(JSON.parse(brokerPolicy()).path).sort()
  expect(paths).toEqual([
    'auth/approle/role/holdfast-broker/secret-id',
    'auth/approle/role/holdfast-broker/secret-id/destroy',
    'auth/approle/role/holdfast-broker/secret-id/lookup',
    'auth/token/create/holdfast-broker',
    'auth/token/renew-self',
    'auth/token/revoke-self',
  ])
})
