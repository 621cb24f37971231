// Tests the complete role table: every action with every role.

import { ROLES } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { ACTIONS, type Action, may, rolesThatMay } from './roles.ts'

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

test('rolesThatMay lists the roles of an action', () => {
  expect(rolesThatMay('exec').join(' ')).toBe(WORKLOADS)
})
