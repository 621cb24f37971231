// Lists in pages: `{items, nextCursor}` with an opaque cursor. DECISIONS 2.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'

export interface Page<T> {
  readonly items: readonly T[]
  /** Null on the last page. */
  readonly nextCursor: string | null
}

/** A page of what is sorted by its key, beginning after the key that the cursor holds. */
export function pageOf<T>(
  sorted: readonly T[],
  keyOf: (item: T) => string,
  limit: number,
  after: string | undefined,
): Page<T> {
  const start = after === undefined ? 0 : sorted.findIndex((item) => keyOf(item) > after)
  const items = start < 0 ? [] : sorted.slice(start, start + limit)
  const last = items.at(-1)
  const more = start >= 0 && start + limit < sorted.length
  return { items, nextCursor: more && last !== undefined ? encodeCursor(keyOf(last)) : null }
}

const encodeCursor = (key: string): string => Buffer.from(key).toString('base64url')

export type CursorOutcome =
  | { readonly ok: true; readonly after?: string }
  | { readonly ok: false; readonly rejection: Rejection }

export function readCursor(cursor: string | undefined): CursorOutcome {
  if (cursor === undefined) return { ok: true }
  const after = Buffer.from(cursor, 'base64url').toString()
  if (encodeCursor(after) === cursor && /^[\x21-\x7e]+$/.test(after)) return { ok: true, after }
  return {
    ok: false,
    rejection: reject('query_parameter_invalid', 'cursor', cursor, {
      accepted: 'the nextCursor of an earlier answer',
    }),
  }
}
