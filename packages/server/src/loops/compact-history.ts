// The store's history is compacted by ourselves: etcd would keep every revision until its quota is full, and its own
// compaction runs too seldom for a busy cell. Watches lag by far less than what is kept here; one that does not is
// told so and lists anew.

import { EngineError, type KeyValueEngine } from '../ports/key-value.ts'

/** Revisions that always stay readable: a list in pages at one revision must be able to finish. */
const KEEP_REVISIONS = 5_000

export interface CompactionDeps {
  readonly engine: Pick<KeyValueEngine, 'compact'>
  currentRevision(): number
}

/** Compacts up to where the revision was one turn ago, so that a revision is kept for one turn at least. */
export function createCompaction({ engine, currentRevision }: CompactionDeps): () => Promise<void> {
  let before = currentRevision()
  let compacted = 0
  return async () => {
    const target = Math.min(before, currentRevision() - KEEP_REVISIONS)
    before = currentRevision()
    if (target <= compacted) return
    try {
      await engine.compact(target)
    } catch (error) {
      // Another replica was faster.
      if (!(error instanceof EngineError && error.reason === 'compacted')) throw error
    }
    compacted = target
  }
}
