// A list that the server sends in pages: what was read so far, and the next page on demand.

import type { PageQuery, Result } from '@holdfast/client'
import { type InfiniteData, keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { isNotFound, requireValue } from '../failure.ts'

interface ServerPage<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface Pages<T> {
  /** The items of all pages that were read; undefined until the first one. */
  readonly items: readonly T[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  /** True while the items are those of the filter before. */
  readonly isOld: boolean
  readMore(): void
}

const PAGE = 500

/** Outside of the hook, so that the items of unchanged pages stay the same array. */
const itemsOf = <T>({ pages }: InfiniteData<ServerPage<T>>): readonly T[] =>
  pages.flatMap(({ items }) => items)

export function usePages<T>(
  queryKey: QueryKey,
  read: (page: PageQuery, options: { readonly signal: AbortSignal }) => Promise<Result<ServerPage<T>>>,
): Pages<T> {
  const query = useInfiniteQuery({
    queryKey,
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn: async ({ signal, pageParam }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam }
      return requireValue(await read({ ...cursor, limit: PAGE }, { signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: itemsOf<T>,
    // An endpoint that this server does not have does not appear a minute later.
    retryOnMount: ({ state }) => !isNotFound(state.error),
  })
  // Taken while rendering, so that the end of a read renders again: a list that asked for more during it asks once more.
  const { isFetching } = query
  return {
    items: query.data,
    error: query.error,
    hasMore: query.hasNextPage,
    isOld: query.isPlaceholderData,
    readMore() {
      if (!isFetching) void query.fetchNextPage()
    },
  }
}
