// The control plane and the tenants, for platform administrators. The change stream reports one tenant only, so these are
// read again every few seconds, while a person sees the page.

import type { Platform, QuotaList, Tenant, TenantSummary } from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { createBrowserClient, useSession } from '../session.tsx'

const PLATFORM_MS = 5_000
const TENANTS_MS = 10_000
const PAGE = 200

export function usePlatform(): UseQueryResult<Platform> {
  const { client } = useSession()
  return useQuery({
    queryKey: keys.platform('state'),
    refetchInterval: PLATFORM_MS,
    staleTime: 0,
    queryFn: async ({ signal }) => requireValue(await client.tenants.platform({ signal })),
  })
}

export interface TenantPages {
  readonly items: readonly TenantSummary[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  readMore(): void
}

/** The tenants whose name has this part, the worst first. */
export function useWorstTenants(q: string, limit = PAGE): TenantPages {
  const { client } = useSession()
  const query = useInfiniteQuery({
    queryKey: keys.platform('tenants', `${limit} ${q}`),
    placeholderData: keepPreviousData,
    refetchInterval: TENANTS_MS,
    staleTime: 0,
    initialPageParam: '',
    queryFn: async ({ signal, pageParam }) => {
      const page = { limit, sort: 'worst' as const, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const filter = q === '' ? {} : { q }
      return requireValue(await client.tenants.summaries({ ...page, ...filter }, { signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  return {
    items: query.data?.pages.flatMap(({ items }) => items),
    error: query.error,
    hasMore: query.hasNextPage,
    readMore() {
      if (!query.isFetching) void query.fetchNextPage()
    },
  }
}

export function useTenant(id: string): UseQueryResult<Tenant> {
  return useQuery({
    queryKey: keys.platform('tenant', id),
    refetchInterval: TENANTS_MS,
    staleTime: 0,
    queryFn: async ({ signal }) => requireValue(await createBrowserClient(id).tenants.read(id, { signal })),
  })
}

export function useQuotasOf(id: string): UseQueryResult<QuotaList['items']> {
  return useQuery({
    queryKey: keys.platform('quotas', id),
    refetchInterval: TENANTS_MS,
    staleTime: 0,
    queryFn: async ({ signal }) =>
      requireValue(await createBrowserClient(id).tenants.quotas({ signal })).items,
  })
}
