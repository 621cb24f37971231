// Creates two tenants with an administrator token each, over the real API.

import type { RunningServer } from './start-server.ts'

export interface DevTenant {
  readonly id: string
  readonly name: string
  /** API token of the tenant's administrator, with the role tenant-admin. */
  readonly token: string
}

const NAMES = ['acme', 'globex']
const VALID_MS = 30 * 24 * 3_600_000

export async function createTenants(server: RunningServer): Promise<DevTenant[]> {
  const tenants: DevTenant[] = []
  for (const name of NAMES) {
    const id = textOf(await post(server, '/api/v1/tenants', { name }), 'id')
    const request = {
      name: `${name} administrator`,
      role: 'tenant-admin',
      expiresAt: new Date(Date.now() + VALID_MS).toISOString(),
    }
    const issued = await post(server, `/api/v1/tenants/${id}/tokens`, request)
    tenants.push({ id, name, token: textOf(issued, 'token') })
  }
  return tenants
}

async function post({ baseUrl, platformToken }: RunningServer, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platformToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${text}`)
  return JSON.parse(text)
}

function textOf(value: unknown, name: string): string {
  const member = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const text = member.find(([key]) => key === name)?.[1]
  if (typeof text !== 'string') throw new TypeError(`the response has no "${name}"`)
  return text
}
