// The usage of nodes and replicas in the last hour. Samples arrive with heartbeats, which are no changes of a record, so the
// usage is read again once per step, while a person sees the page.

import type { DeploymentMetrics, NodeMetrics } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

const STEP_MS = 10_000

export function useNodeMetrics(id: string): UseQueryResult<NodeMetrics> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.metrics(tenant, 'nodes', id),
    refetchInterval: STEP_MS,
    queryFn: async ({ signal }) => requireValue(await client.nodes.metrics(id, {}, { signal })),
  })
}

export function useDeploymentMetrics(name: string): UseQueryResult<DeploymentMetrics> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.metrics(tenant, 'deployments', name),
    refetchInterval: STEP_MS,
    queryFn: async ({ signal }) => requireValue(await client.deployments.metrics(name, {}, { signal })),
  })
}
