// Why a deployment is in its phase: each node with each reason, now or at a time in the past.

import type { Decision, Why } from '@holdfast/contract'
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

export interface WhyFilter {
  readonly at?: string | undefined
  readonly view?: 'groups' | undefined
}

export interface WhyPages {
  /** The explanation with the nodes of all pages that were read. */
  readonly why: Why | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  /** True while the explanation is that of the time or view before. */
  readonly isOld: boolean
  readMore(): void
}

const PAGE = 100

export function useWhy(name: string, { at, view }: WhyFilter): WhyPages {
  const { client, tenant } = useSession()
  const query = useInfiniteQuery({
    queryKey: keys.why(tenant, name, { at, view }),
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, pageParam }) => {
      const page =
        view === 'groups' ? { view } : { limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      return requireValue(await client.deployments.why(name, { at, ...page }, { signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  const [first] = query.data?.pages ?? []
  const candidates = query.data?.pages.flatMap((page) => page.candidates) ?? []
  return {
    why: first === undefined ? undefined : { ...first, candidates },
    error: query.error,
    hasMore: query.hasNextPage,
    isOld: query.isPlaceholderData,
    readMore() {
      if (!query.isFetching) void query.fetchNextPage()
    },
  }
}

/** The stops of the time slider: more would be too close to each other. */
const DECISIONS = 40

export function useDecisions(name: string): UseQueryResult<readonly Decision[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.why(tenant, name, { decisions: true }),
    queryFn: async ({ signal }) =>
      requireValue(await client.deployments.decisions(name, { limit: DECISIONS }, { signal })).items,
  })
}
