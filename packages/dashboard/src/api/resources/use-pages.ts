// A list that the server sends in pages: what was read so far, and the next page on demand.

import type { PageQuery, Result } from '@holdfast/client'
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'

interface ServerPage<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface Pages<T> {
  /** The items of all pages that were read; undefined until the first one. */
  readonly items: readonly T[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  readMore(): void
}

const PAGE = 500

export function usePages<T>(
  queryKey: QueryKey,
  read: (page: PageQuery, options: { readonly signal: AbortSignal }) => Promise<Result<ServerPage<T>>>,
): Pages<T> {
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: async ({ signal, pageParam }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam }
      return requireValue(await read({ ...cursor, limit: PAGE }, { signal }))
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
