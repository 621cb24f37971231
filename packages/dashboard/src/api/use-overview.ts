// The overview of the tenant, and its latest events.

import type { EventPage, Overview } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

export function useOverview(): UseQueryResult<Overview> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.overview(tenant),
    queryFn: async ({ signal }) => requireValue(await client.tenants.overview({ signal })),
  })
}

export function useLatestEvents(limit: number): UseQueryResult<EventPage> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.events(tenant, { limit }),
    queryFn: async ({ signal }) => requireValue(await client.events({ limit }, { signal })),
  })
}
