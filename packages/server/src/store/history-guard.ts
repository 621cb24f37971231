// Did etcd go back? A linearizable answer older than what was seen before it was asked for is of an etcd that was restored
// from a backup. What the cache holds is then of a history that is gone, and its watch waits for revisions that will be
// given to other changes: nothing is said or written from such a view. A server that starts anew reads what there is, and
// that is for the operator who restored it to decide. SAFETY 3.

import { StoreUnavailableError } from './unavailable.ts'

export type OnWentBack = (seen: number, found: number) => void

export interface HistoryGuard {
  /** `seen`: of the cache, before the question was sent; `found`: with the answer. */
  note(seen: number, found: number): void
  /** Throws once etcd was found to have gone back. */
  require(): void
}

/** `onWentBack` is called once. */
export function createHistoryGuard(onWentBack: OnWentBack = () => {}): HistoryGuard {
  let fault: string | undefined
  return {
    note(seen, found) {
      if (found >= seen || fault !== undefined) return
      fault = `etcd went back from revision ${seen} to ${found}, as one that was restored from a backup: this server must be restarted`
      onWentBack(seen, found)
    },
    require() {
      if (fault !== undefined) throw new StoreUnavailableError(fault)
    },
  }
}
