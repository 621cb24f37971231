// Reads the events of every tenant of a platform over HTTP before the platform stops, so that the record of a CI run has
// the events that tests caused and did not read themselves.

import type { ApiClient } from '../platform/api-client.ts'
import { RECEIVED_FILE } from './received-values.ts'

/** Some tests stop the engines first; the server of such a platform does not answer. */
const DEADLINE_MS = 2_000
const PAGE = 500

/** Reads the events of all tenants of a platform. */
export const readEvents = (api: ApiClient): Promise<void> => readEventsOf(api, () => tenantsOf(api))

/** Reads the events of these tenants. */
export async function readEventsOf(api: ApiClient, tenants: () => Promise<readonly string[]>): Promise<void> {
  if (RECEIVED_FILE === undefined) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, DEADLINE_MS)
  const reading = tenants().then((ids) => Promise.all(ids.map((id) => readTenant(api, id))))
  await Promise.race([reading.catch(() => {}), late])
  clearTimeout(timer)
}

/** The ids of all tenants of a platform. */
export async function tenantsOf(api: ApiClient): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  do {
    const { body } = await api.get(`/api/v1/tenants?limit=${PAGE}${cursor}`)
    const items: readonly { readonly id: string }[] = Object(body['items'] ?? [])
    ids.push(...items.map(({ id }) => id))
    cursor = typeof body['nextCursor'] === 'string' ? `&cursor=${body['nextCursor']}` : ''
  } while (cursor !== '')
  return ids
}

async function readTenant(api: ApiClient, tenant: string): Promise<void> {
  let before = ''
  do {
    const { body } = await api.get(`/api/v1/events?limit=${PAGE}${before}`, { 'x-tenant-id': tenant })
    const earlier = body['earlierCursor']
    before = typeof earlier === 'string' ? `&before=${earlier}` : ''
  } while (before !== '')
}
