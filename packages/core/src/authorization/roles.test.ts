// Tests the complete role table: every action with every role.

import { ROLES } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { ACTIONS, type Action, may, tokensThatMay } from './roles.ts'

const EVERYONE = 'viewer developer secrets-admin tenant-admin platform-admin'
const WORKLOADS = 'developer tenant-admin platform-admin'
const SECRETS = 'secrets-admin tenant-admin platform-admin'
const TENANT = 'tenant-admin platform-admin'
const PLATFORM = 'platform-admin'

const TABLE: { readonly [action in Action]: string } = {
  'deployments:read': EVERYONE,
  'jobs:read': EVERYONE,
  'networks:read': EVERYONE,
  'volumes:read': EVERYONE,
  'nodes:read': EVERYONE,
  'backups:read': EVERYONE,
  'archives:read': EVERYONE,
  'events:read': EVERYONE,
  'audit:read': EVERYONE,
  'quotas:read': EVERYONE,
  'registries:read': EVERYONE,
  'scheduler:read': EVERYONE,
  'tenants:read': EVERYONE,
  'tokens:read': EVERYONE,
  'secrets:read': EVERYONE,
  'deployments:write': WORKLOADS,
  'jobs:write': WORKLOADS,
  'networks:write': WORKLOADS,
  'volumes:write': WORKLOADS,
  'backups:write': WORKLOADS,
  'logs:read': WORKLOADS,
  exec: WORKLOADS,
  'divergences:read': WORKLOADS,
  'secrets:read-keys': SECRETS,
  'secrets:write': SECRETS,
  'secrets:rotate': SECRETS,
  'registries:write': SECRETS,
  'nodes:write': TENANT,
  'join-tokens:write': TENANT,
  'claims:release': TENANT,
  'tokens:write': TENANT,
  'tenants:write': PLATFORM,
  'quotas:write': PLATFORM,
  'control-plane-nodes:write': PLATFORM,
  'metrics:read': PLATFORM,
  'tenants:choose': PLATFORM,
}

describe.each([...ACTIONS])('permission %s', (action) => {
  test.each([...ROLES])('for the role %s', (role) => {
    expect(may(role, action)).toBe(TABLE[action].split(' ').includes(role))
  })
})

test('the role table lists every action once', () => {
  expect(Object.keys(TABLE).sort()).toEqual([...ACTIONS].sort())
  expect(new Set(ACTIONS).size).toBe(ACTIONS.length)
})

test.each([
  ['exec', 'a token with the role developer, tenant-admin or platform-admin'],
  ['tokens:write', 'a token with the role tenant-admin or platform-admin'],
  ['control-plane-nodes:write', 'a token with the role platform-admin'],
] as const)('the text about the action %s names every role that may perform it', (action, text) => {
  expect(tokensThatMay(action)).toBe(text)
})
