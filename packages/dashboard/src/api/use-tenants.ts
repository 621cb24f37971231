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
    queryFn: async ({ signal }) => {
      const query = { limit: SHOWN, ...(q === '' ? {} : { q }) }
      return requireValue(await client.tenants.summaries(query, { signal })).items
    },
  })
}
