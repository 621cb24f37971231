// Volumes: the list, one volume with its forecast, its divergences, and the recommendations for it.

import { readAll } from '@holdfast/client'
import type { Divergences, Recommendation, Volume, VolumeId } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Pages, usePages } from './use-pages.ts'

export function useVolumes(): Pages<Volume> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'volumes', 'list'), client.volumes.list)
}

/** The volumes with a copy on a node; undefined on a platform without volumes, and until they were read. */
export function useVolumesOn(nodeId: string): readonly Volume[] | undefined {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'volumes', 'all'),
    queryFn: async () => requireValue(await readAll(client.volumes.list)),
    select: (all) => all.filter(({ copies }) => copies.some((copy) => copy.nodeId === nodeId)),
  }).data
}

/** The lag of a copy grows without a change of the record, so the change stream does not report it. */
const LAG_MS = 5_000

export function useVolume(id: string): UseQueryResult<Volume> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'volumes', 'one', id),
    refetchInterval: LAG_MS,
    queryFn: async ({ signal }) => requireValue(await client.volumes.read(id, { signal })),
  })
}

export function useDivergences(id: VolumeId, enabled: boolean): UseQueryResult<Divergences> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'volumes', 'divergences', id),
    enabled,
    queryFn: async ({ signal }) => requireValue(await client.volumes.divergences.list(id, {}, { signal })),
  })
}

/** All recommendations, of one volume if its id is given, the most urgent first. */
export function useRecommendations(volume?: VolumeId): UseQueryResult<readonly Recommendation[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'volumes', 'recommendations'),
    queryFn: async () => requireValue(await readAll(client.volumes.recommendations.list)),
    select: (all) => (volume === undefined ? all : all.filter(({ volume_id: id }) => id === volume)),
  })
}
