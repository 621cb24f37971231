// The signed-in person, as the server knows them. Without a tenant, the server answers for the tenant of the token.

import type { Me } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { createBrowserClient } from './session.tsx'

export function useMe(tenant?: string): UseQueryResult<Me> {
  return useQuery({
    queryKey: keys.me(tenant ?? ''),
    queryFn: async ({ signal }) => requireValue(await createBrowserClient(tenant).tenants.me({ signal })),
  })
}
