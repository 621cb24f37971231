// Nodes: the list, which the server filters, and one node with its replicas.

import { readAll } from '@holdfast/client'
import type { Node, NodeReplica, NodeSummary } from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

export interface NodePages {
  readonly items: readonly NodeSummary[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  readMore(): void
}

const PAGE = 500

export function useNodes(): NodePages {
  const { client, tenant } = useSession()
  const query = useInfiniteQuery({
    queryKey: keys.nodes(tenant, 'list'),
    initialPageParam: '',
    queryFn: async ({ signal, pageParam }) => {
      const page = pageParam === '' ? {} : { cursor: pageParam }
      return requireValue(await client.nodes.summaries({ ...page, limit: PAGE, sort: 'worst' }, { signal }))
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
