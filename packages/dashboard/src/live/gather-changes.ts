// Gathers changes and passes them on at most every 250 ms, one batch at a time: a batch waits until the reads that the
// previous one caused have ended, so that a slow server is not asked faster than it answers.

import type { ChangedRecord } from '@holdfast/contract'
import type { Changed } from './live-connection.ts'

export interface GatherDeps {
  /** Resolves when what changed has been read again. */
  flush(changed: Changed): Promise<void>
  wait(ms: number): Promise<void>
}

export interface Gatherer {
  add(changed: Changed): void
  /** A paused gatherer keeps changes until it is resumed, for a tab that no person sees. */
  pause(paused: boolean): void
}

const LEAST_PAUSE_MS = 250
/** More names than this are read as a change of everything. */
const MOST_RECORDS = 500

export function createGatherer({ flush, wait }: GatherDeps): Gatherer {
  let pending: Changed | undefined
  let [running, paused] = [false, false]
  const run = async (): Promise<void> => {
    if (running) return
    running = true
    while (pending !== undefined && !paused) {
      const batch = pending
      pending = undefined
      // A failed read shows its error on the page; the next change reads again.
      await Promise.all([flush(batch).catch(() => {}), wait(LEAST_PAUSE_MS)])
    }
    running = false
  }
  return {
    add(changed) {
      pending = pending === undefined ? changed : joinChanges(pending, changed)
      void run()
    },
    pause(now) {
      paused = now
      if (!paused) void run()
    },
  }
}

export function joinChanges(left: Changed, right: Changed): Changed {
  if (left.kind === 'all' || right.kind === 'all') return { kind: 'all' }
  const records = new Map<string, ChangedRecord>()
  for (const item of [...left.items, ...right.items]) records.set(`${item.resource}/${item.uid}`, item)
  return records.size > MOST_RECORDS ? { kind: 'all' } : { kind: 'some', items: [...records.values()] }
}
