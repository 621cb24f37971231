import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { tenantCreate } from './tenant-create.ts'
import { tokenCreate } from './token-create.ts'

const TENANT = 'ten_1'
const ISSUED = {
  id: 'tok_2',
  tenant: TENANT,
  name: 'ci',
  role: 'developer',
  createdAt: '2026-01-31T12:00:00.000Z',
  expiresAt: '2026-03-02T12:00:00.000Z',
  token: 'hf_x',
}

async function create(own: string, role: string, settings: { readonly tenant?: string }) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /me': {
      tenant: { id: TENANT, name: settings.tenant ?? 'platform' },
      token: { id: 'tok_1', name: 'me', role: own, expiresAt: '' },
      actions: [],
      server: { version: '0.0.0' },
    },
    [`POST /tenants/${TENANT}/tokens`]: { ...ISSUED, role },
  })
  const typed = {
    ...invocation(terminal, ['ci'], { role }),
    settings: async () => ({ ok: true as const, settings }),
  }
  return { exit: await tokenCreate.run(typed, client), ...terminal.printed }
}

test('a platform administrator must name the tenant of a token with a role in a tenant', async () => {
  expect(await create('platform-admin', 'developer', {})).toEqual({
    exit: 2,
    out: '',
    err: 'error: no tenant given for the role developer; type: holdfast token create ci --role developer --tenant NAME (holdfast get tenants lists them)\n',
  })
  const issued = await create('platform-admin', 'developer', { tenant: 'initech' })
  expect(issued).toMatchObject({ exit: 0, out: 'hf_x\n' })
  expect(issued.err).toContain('(developer of tenant initech) issued')
})

test('other tokens need no --tenant', async () => {
  expect(await create('platform-admin', 'platform-admin', {})).toMatchObject({ exit: 0 })
  expect(await create('tenant-admin', 'developer', {})).toMatchObject({ exit: 0 })
})

test('tenant create names the tenant and the next commands', async () => {
  const terminal = scriptTerminal()
  const tenant = {
    id: TENANT,
    name: 'initech',
    platform: false,
    quotas: {},
    revision: 1,
    createdAt: '',
    deleting: false,
  }
  const client = scriptClient({ 'POST /tenants': tenant })
  expect(await tenantCreate.run(invocation(terminal, ['initech']), client)).toBe(0)
  expect(terminal.printed).toEqual({
    out: 'tenant/ten_1 created\n',
    err: 'name: initech\nnext: holdfast token create NAME --role tenant-admin --tenant initech\n      holdfast node join-token NODE --tenant initech\n',
  })
})
