// Reads and changes access to a tenant: tokens, credentials of registries, and quotas.

import type { QuotaList, Registry, Token } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Pages, usePages } from './use-pages.ts'

export function useTokens(): Pages<Token> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'tokens', 'list'), (page, options) =>
    client.tenants.tokens(tenant, page, options),
  )
}

export function useRegistries(): UseQueryResult<readonly Registry[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'registries', 'list'),
    queryFn: async ({ signal }) => requireValue(await client.registries.list({ signal })).items,
  })
}

export function useQuotas(): UseQueryResult<QuotaList['items']> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'quotas', 'list'),
    queryFn: async ({ signal }) => requireValue(await client.tenants.quotas({ signal })).items,
  })
}
