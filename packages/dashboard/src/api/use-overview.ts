// The overview of the tenant, and its latest events.

import type { EventPage, Overview } from '@holdfast/contract'
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { type Session, useSession } from './session.tsx'

/** The newest events on the overview. */
const LATEST_EVENTS = 12

/** Also for the route, which reads it while the code of the page is on its way. */
export const overviewQuery = ({ client, tenant }: Pick<Session, 'client' | 'tenant'>) =>
  queryOptions({
    queryKey: keys.overview(tenant),
    queryFn: async ({ signal }): Promise<Overview> => requireValue(await client.tenants.overview({ signal })),
  })

export const latestEventsQuery = ({ client, tenant }: Pick<Session, 'client' | 'tenant'>) =>
  queryOptions({
    queryKey: keys.events(tenant, { limit: LATEST_EVENTS }),
    queryFn: async ({ signal }): Promise<EventPage> =>
      requireValue(await client.events({ limit: LATEST_EVENTS }, { signal })),
  })

export const useOverview = (): UseQueryResult<Overview> => useQuery(overviewQuery(useSession()))

export const useLatestEvents = (): UseQueryResult<EventPage> => useQuery(latestEventsQuery(useSession()))
