// The tenants that a platform administrator may choose, by part of a name.

import type { Tenant } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

const SHOWN = 50

type Found = Pick<Tenant, 'id' | 'name'>

export function useTenants(q: string, enabled: boolean): UseQueryResult<readonly Found[]> {
  const { client } = useSession()
  return useQuery({
    queryKey: keys.tenants(q),
    enabled,
    // The change stream reports the changes of one tenant only, so the list is read whenever it is opened.
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const query = { limit: SHOWN, ...(q === '' ? {} : { q }) }
      return requireValue(await client.tenants.summaries(query, { signal })).items
    },
  })
}
