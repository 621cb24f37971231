// Compacts the history of etcd. Without compaction etcd keeps every revision until its quota is full, and etcd's
// automatic compaction runs too rarely for a busy cluster. A watch older than the kept history fails with `compacted` and
// lists again.

import { EngineError, type KeyValueEngine } from '../ports/key-value.ts'

/** The number of newest revisions that are always kept, so that a paged list at one revision can finish. */
const KEEP_REVISIONS = 5_000

export interface CompactionDeps {
  readonly engine: Pick<KeyValueEngine, 'compact'>
  currentRevision(): number
}

/** Compacts up to the revision at the previous run, so that each revision is kept for at least one interval. */
export function createCompaction({ engine, currentRevision }: CompactionDeps): () => Promise<void> {
  let previous = currentRevision()
  let compacted = 0
  return async () => {
    const target = Math.min(previous, currentRevision() - KEEP_REVISIONS)
    previous = currentRevision()
    if (target <= compacted) return
    try {
      await engine.compact(target)
    } catch (error) {
      // Another server replica has already compacted further.
      if (!(error instanceof EngineError && error.reason === 'compacted')) throw error
    }
    compacted = target
  }
}
