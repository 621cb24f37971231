// Nodes: the list, which the server filters, and one node with its replicas.

import { readAll } from '@holdfast/client'
import type { Node, NodeReplica, NodeSummary } from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { type Pages, usePages } from './resources/use-pages.ts'
import { useSession } from './session.tsx'

export function useNodes(): Pages<NodeSummary> {
  const { client, tenant } = useSession()
  return usePages(keys.nodes(tenant, 'list'), (page, options) =>
    client.nodes.summaries({ ...page, sort: 'worst' }, options),
  )
}

/** The first matches of a name, for the palette. */
export function useFoundNodes(q: string): readonly NodeSummary[] {
  const { client, tenant } = useSession()
  const { data } = useQuery({
    queryKey: keys.nodes(tenant, `found ${q}`),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      requireValue(await client.nodes.summaries({ q: q === '' ? undefined : q, limit: 5 }, { signal })),
  })
  return data?.items ?? []
}

export function useNode(id: string): UseQueryResult<Node> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.nodes(tenant, id),
    queryFn: async ({ signal }) => requireValue(await client.nodes.read(id, { signal })),
  })
}

export function useNodeReplicas(id: string): UseQueryResult<readonly NodeReplica[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.nodeReplicas(tenant, id),
    queryFn: async ({ signal }) =>
      requireValue(await readAll((page) => client.nodes.replicas(id, page, { signal }))),
  })
}
