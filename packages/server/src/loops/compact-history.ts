// Compacts the history of etcd. Without compaction etcd keeps every revision until its quota is full, and etcd's
// automatic compaction runs too rarely for a busy cluster. A watch that resumes at a compacted revision fails with
// `compacted`, and its owner lists all records again.

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
      // The error `compacted` is ignored: another server replica has already compacted up to a later revision.
      if (!(error instanceof EngineError && error.reason === 'compacted')) throw error
    }
    compacted = target
  }
}
