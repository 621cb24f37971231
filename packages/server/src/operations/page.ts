// Splits lists into pages: `{items, nextCursor}` with an opaque cursor. See docs/design/api.md#lists.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Store } from '../store/store.ts'
import { done, type Outcome, refused } from './caller.ts'

export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null
}

/**
 * One page of the items that `find` returns after the cache is up to date. Items are sorted by `keyOf`, which is unique.
 */
export async function listPage<T>(
  store: Pick<Store, 'fresh'>,
  { limit, cursor }: PageRequest,
  find: () => readonly T[] | Promise<readonly T[]>,
  keyOf: (item: T) => string,
): Promise<Outcome<Page<T>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  // Each key is made once: a sort compares an item with many others.
  const keyed = (await find()).map((item) => ({ item, key: keyOf(item) }))
  return done(pageOf(keyed, limit, from.after))
}

/** Converts each item of a page with `show`. A rejection is returned unchanged. */
export function mapPage<T, U>(page: Outcome<Page<T>>, show: (item: T) => U): Outcome<Page<U>> {
  if (!page.ok) return page
  return done({ items: page.value.items.map(show), nextCursor: page.value.nextCursor })
}

/** Reads the records of a page of keys. A record that was removed after its key was listed is left out. */
export async function readPage<T, U>(
  page: Outcome<Page<{ readonly key: string }>>,
  read: (keys: string[]) => Promise<readonly (T | undefined)[]>,
  show: (record: T) => U,
): Promise<Outcome<Page<U>>> {
  if (!page.ok) return page
  const { items, nextCursor } = page.value
  const records = await read(items.map(({ key }) => key))
  return done({
    items: records.flatMap((record) => (record === undefined ? [] : [show(record)])),
    nextCursor,
  })
}

interface Keyed<T> {
  readonly item: T
  readonly key: string
}

function pageOf<T>(all: readonly Keyed<T>[], limit: number, after: string | undefined): Page<T> {
  const rest = after === undefined ? all : all.filter(({ key }) => key > after)
  const shown = rest.toSorted((left, right) => (left.key < right.key ? -1 : 1)).slice(0, limit)
  const last = shown.at(-1)
  const more = shown.length < rest.length
  return {
    items: shown.map(({ item }) => item),
    nextCursor: more && last !== undefined ? encodeCursor(last.key) : null,
  }
}

export const encodeCursor = (key: string): string => Buffer.from(key).toString('base64url')

type CursorOutcome =
  | { readonly ok: true; readonly after?: string }
  | { readonly ok: false; readonly rejection: Rejection }

export function readCursor(cursor: string | undefined): CursorOutcome {
  if (cursor === undefined) return { ok: true }
  const after = Buffer.from(cursor, 'base64url').toString()
  if (encodeCursor(after) === cursor && /^[\x21-\x7e]+$/.test(after)) return { ok: true, after }
  return {
    ok: false,
    rejection: reject('query_parameter_invalid', 'cursor', cursor, {
      accepted: 'the nextCursor of an earlier response',
    }),
  }
}
