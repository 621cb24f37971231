// A whole range, page by page, as it stood at one revision, without ever holding more than a page of answers.

import type { KeyRange, KeyValueEngine, RangeResult } from '../../ports/key-value.ts'

/** Some megabytes of records. For each page etcd counts all that remains, so smaller ones cost it more (PERFORMANCE 2.3). */
const PAGE = 5_000

/**
 * The first page is read at the newest revision, the others at the first one's, so all pages show one state: watch from
 * `revision + 1` and nothing is missed. Throws `compacted` when the listing takes longer than history is kept.
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
    // The least key after the last one.
    page = await engine.range({ ...range, key: `${last.key}\0`, limit: pageSize, revision })
  }
}
