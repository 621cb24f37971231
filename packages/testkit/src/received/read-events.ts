// Reads the events of every tenant of a platform over HTTP before the platform stops, so that the record of a CI run has
// the events that tests caused and did not read themselves.

import type { ApiClient } from '../platform/api-client.ts'
import { RECEIVED_FILE } from './received-values.ts'

/** Some tests stop the engines first; the server of such a platform does not answer. */
const DEADLINE_MS = 2_000
const PAGE = 500

export async function readEvents(api: ApiClient): Promise<void> {
  if (RECEIVED_FILE === undefined) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, DEADLINE_MS)
  await Promise.race([readTenants(api).catch(() => {}), late])
  clearTimeout(timer)
}

async function readTenants(api: ApiClient): Promise<void> {
  const { body } = await api.get('/api/v1/tenants')
  const tenants: readonly { readonly id: string }[] = Object(body['items'] ?? [])
  await Promise.all(tenants.map(({ id }) => readTenant(api, id)))
}

async function readTenant(api: ApiClient, tenant: string): Promise<void> {
  let before = ''
  do {
    const { body } = await api.get(`/api/v1/events?limit=${PAGE}${before}`, { 'x-tenant-id': tenant })
    const earlier = body['earlierCursor']
    before = typeof earlier === 'string' ? `&before=${earlier}` : ''
  } while (before !== '')
}
