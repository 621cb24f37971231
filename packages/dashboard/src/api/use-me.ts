// The signed-in person, as the server knows them. Without a tenant, the server answers for the tenant of the token.

import type { Me } from '@holdfast/contract'
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { createBrowserClient } from './session.tsx'

/** Also for the routes, which read it while the code of the page is on its way. */
export const meQuery = (tenant?: string) =>
  queryOptions({
    queryKey: keys.me(tenant ?? ''),
    queryFn: async ({ signal }): Promise<Me> =>
      requireValue(await createBrowserClient(tenant).tenants.me({ signal })),
  })

export const useMe = (tenant?: string): UseQueryResult<Me> => useQuery(meQuery(tenant))
