// Deployments: the list, which the server filters, and the parts of one deployment.

import { type PageQuery, readAll } from '@holdfast/client'
import type {
  ArchiveEntry,
  DeploymentRecord,
  DeploymentSummary,
  PlacementEntry,
  StatusWithTimeline,
} from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

export interface DeploymentFilter {
  readonly q?: string | undefined
  readonly phase?: string | undefined
}

export interface DeploymentPages {
  readonly items: readonly DeploymentSummary[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  /** True while the items are those of the filter before. */
  readonly isOld: boolean
  readMore(): void
}

const PAGE = 500

export function useDeployments(filter: DeploymentFilter): DeploymentPages {
  const { client, tenant } = useSession()
  const query = useInfiniteQuery({
    queryKey: keys.deploymentList(tenant, filter),
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn: async ({ signal, pageParam }) => {
      const page = pageParam === '' ? {} : { cursor: pageParam }
      return requireValue(await client.deployments.summaries({ ...filter, ...page, limit: PAGE }, { signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  return {
    items: query.data?.pages.flatMap(({ items }) => items),
    error: query.error,
    hasMore: query.hasNextPage,
    isOld: query.isPlaceholderData,
    readMore() {
      if (!query.isFetching) void query.fetchNextPage()
    },
  }
}

/** The first matches of a name, for the palette. */
export function useFoundDeployments(q: string): readonly DeploymentSummary[] {
  const { client, tenant } = useSession()
  const { data } = useQuery({
    queryKey: keys.deploymentList(tenant, { q, first: true }),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      requireValue(await client.deployments.summaries({ q: q === '' ? undefined : q, limit: 8 }, { signal })),
  })
  return data?.items ?? []
}

export function useStatus(name: string): UseQueryResult<StatusWithTimeline> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.deployment(tenant, name, 'status'),
    queryFn: async ({ signal }) => requireValue(await client.deployments.status(name, { signal })),
  })
}

/** The kept revisions, newest first. The server keeps a bounded number of them. */
export function useRevisions(name: string): UseQueryResult<readonly ArchiveEntry[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.deployment(tenant, name, 'revisions'),
    queryFn: async ({ signal }) => {
      const read = (page: PageQuery) => client.deployments.archived(name, page, { signal })
      return requireValue(await readAll(read)).toReversed()
    },
  })
}

export function useRecord(name: string): UseQueryResult<DeploymentRecord> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.deployment(tenant, name, 'record'),
    queryFn: async ({ signal }) => requireValue(await client.deployments.read(name, { signal })),
  })
}

export const useRevision = (name: string): number | undefined => useRecord(name).data?.revision

export function usePlacements(name: string): UseQueryResult<readonly PlacementEntry[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.deployment(tenant, name, 'placements'),
    queryFn: async ({ signal }) => requireValue(await client.deployments.placements(name, { signal })).items,
  })
}
