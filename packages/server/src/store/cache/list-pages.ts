// Lists a range page by page at one revision, with at most one page in memory.

import type { KeyRange, KeyValueEngine, RangeResult } from '../../ports/key-value.ts'

/** Some megabytes of records. For each page etcd counts all remaining keys, so smaller pages cost more. */
const PAGE = 5_000

/**
 * All pages are read at the revision of the first one, so a watch from `revision + 1` misses nothing. Throws `compacted`
 * when the listing takes longer than etcd keeps its history.
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
    // The smallest key after the last one.
    page = await engine.range({ ...range, key: `${last.key}\0`, limit: pageSize, revision })
  }
}
