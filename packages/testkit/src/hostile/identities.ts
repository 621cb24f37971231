// Creates callers of all kinds for tests: each role of a tenant, the administrator of another tenant, the platform
// administrator, and five kinds of invalid tokens.

import { randomBytes } from 'node:crypto'
import { waitUntil } from '@holdfast/testkit'
import { makeToken } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'
import type { Caller, Role } from './role-table.ts'

export interface Identity {
  readonly name: string
  /** The caller's token. If absent, the caller sends no Authorization header. */
  readonly token?: string
  readonly caller: Caller
}

const TENANT_ROLES: readonly Role[] = ['viewer', 'developer', 'secrets-admin', 'tenant-admin']

/** Creates callers of tenant acme. The tests check which data of tenant globex these callers can see. */
export async function makeTenantIdentities(platform: Platform): Promise<Identity[]> {
  const { acme } = platform
  return Promise.all(
    TENANT_ROLES.map(async (role) => ({
      name: role,
      token: await makeToken(platform.api(), acme.id, role),
      caller: { known: true as const, role, tenant: acme.id },
    })),
  )
}

export async function makeIdentities(platform: Platform, platformTenant: string): Promise<Identity[]> {
  const { globex, platformToken } = platform
  return [
    { name: 'no token', caller: { known: false } },
    ...(await makeTenantIdentities(platform)),
    {
      name: "another tenant's tenant-admin",
      token: globex.token,
      caller: { known: true, role: 'tenant-admin', tenant: globex.id },
    },
    {
      name: 'platform-admin',
      token: platformToken,
      caller: { known: true, role: 'platform-admin', tenant: platformTenant },
    },
    ...(await makeForged(platform)),
  ]
}

async function makeForged(platform: Platform): Promise<Identity[]> {
  const { acme } = platform
  const [, id = ''] = acme.token.split('_')
  const wrongSecret = `hf_${id}_${randomBytes(32).toString('base64url')}`
  const unknownId = `hf_${'0'.repeat(26)}_${randomBytes(32).toString('base64url')}`
  const tokens = {
    'a well-formed token that was never issued': unknownId,
    'the right id with a wrong secret': wrongSecret,
    'an expired token': await makeExpired(platform),
    'a revoked token': await makeRevoked(platform),
    'a token of a deleted tenant': await makeOrphan(platform),
    'a malformed token': 'Bearer-of-bad-news',
  }
  return Object.entries(tokens).map(([name, token]) => ({ name, token, caller: { known: false } }))
}

async function makeExpired(platform: Platform): Promise<string> {
  const expiresAt = new Date(Date.now() + 1_000).toISOString()
  const body = { name: 'short-lived', role: 'tenant-admin', expiresAt }
  const issued = await platform.api().post(`/api/v1/tenants/${platform.acme.id}/tokens`, body)
  const token = String(issued.body['token'])
  await waitUntil(async () => (await platform.api(token).get('/api/v1/quotas')).status === 401, {
    what: 'the token is expired',
  })
  return token
}

async function makeRevoked(platform: Platform): Promise<string> {
  const { acme } = platform
  const token = await makeToken(platform.api(), acme.id, 'tenant-admin')
  const id = `tok_${token.split('_')[1]}`
  await platform.api().delete(`/api/v1/tenants/${acme.id}/tokens/${id}`)
  return token
}

/** Creates a token of a deleted tenant. Returns when the tenant and all its records are deleted. */
async function makeOrphan(platform: Platform): Promise<string> {
  const made = await platform.api().post('/api/v1/tenants', { name: 'initech' })
  const id = String(made.body['id'])
  const token = await makeToken(platform.api(), id, 'tenant-admin')
  await platform.api().delete(`/api/v1/tenants/${id}`)
  await waitUntil(async () => (await platform.api().get(`/api/v1/tenants/${id}`)).status === 404, {
    what: 'the tenant is gone',
  })
  return token
}
