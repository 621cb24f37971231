// Deployments: the list, which the server filters, and the parts of one deployment.

import { type PageQuery, readAll } from '@holdfast/client'
import type {
  ArchiveEntry,
  DeploymentRecord,
  DeploymentSummary,
  PlacementEntry,
  StatusWithTimeline,
} from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { type Pages, usePages } from './resources/use-pages.ts'
import { useSession } from './session.tsx'

export interface DeploymentFilter {
  readonly q?: string | undefined
  readonly phase?: string | undefined
}

export function useDeployments(filter: DeploymentFilter): Pages<DeploymentSummary> {
  const { client, tenant } = useSession()
  return usePages(keys.deploymentList(tenant, filter), (page, options) =>
    client.deployments.summaries({ ...filter, ...page }, options),
  )
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
