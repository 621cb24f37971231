// Reads lists that the API returns in pages (docs/design/api.md#lists).

import type { Result } from './result.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** A page of a list that the server filters and sorts. */
export interface ShortListQuery extends PageQuery {
  /** Part of a name. */
  readonly q?: string | undefined
  /** The phase of deployments, or the status of nodes. */
  readonly phase?: string | undefined
  /** `worst`: those that need a person first. By default the list is sorted by name. */
  readonly sort?: 'name' | 'worst' | 'newest' | undefined
}

type ReadPage<T> = (query: PageQuery) => Promise<Result<Page<T>>>

const PAGE = 500

/** Yields pages until the last page, or until the first failure. */
export async function* walkPages<T>(readPage: ReadPage<T>): AsyncGenerator<Result<readonly T[]>, void> {
  let cursor: string | null = null
  do {
    const page: Result<Page<T>> = await readPage({ limit: PAGE, ...(cursor === null ? {} : { cursor }) })
    if (!page.ok) {
      yield page
      return
    }
    yield { ok: true, value: page.value.items }
    cursor = page.value.nextCursor
  } while (cursor !== null)
}

/** Reads all pages of a list. If one page fails, the result is that failure. */
export async function readAll<T>(readPage: ReadPage<T>): Promise<Result<T[]>> {
  const all: T[] = []
  for await (const page of walkPages(readPage)) {
    if (!page.ok) return page
    all.push(...page.value)
  }
  return { ok: true, value: all }
}
