// Lists a range of etcd keys page by page at one revision, with at most one page in memory.

import type { KeyRange, KeyValueEngine, RangeResult } from '../../ports/key-value.ts'

/**
 * Records per page; a page is a few megabytes large. Smaller pages cost more, as etcd counts all remaining keys per page.
 */
const PAGE = 5_000

/**
 * Lists all pages at the revision of the first page, so a watch from `revision + 1` misses nothing. Throws `compacted` if
 * the listing takes longer than etcd keeps its history.
 */
export async function* listPages(
  engine: Pick<KeyValueEngine, 'range'>,
  range: KeyRange,
  pageSize = PAGE,
): AsyncGenerator<RangeResult, void, void> {
  let page = await engine.range({ ...range, limit: pageSize })
  const { revision } = page
  for (;;) {
    yield { ...page, revision }
    const last = page.kvs.at(-1)
    if (!page.more || !last) return
    // The next page starts at the last key with `\\0` appended, which is the smallest key after the last key.
    page = await engine.range({ ...range, key: `${last.key}\0`, limit: pageSize, revision })
  }
}
