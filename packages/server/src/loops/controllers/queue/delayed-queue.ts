// Deployments to be requeued at a given time, because the passing of time alone may change their plan. The number of such
// deployments is small, so each check scans all of them.

export interface DelayedQueue {
  /** Sets the time at which the key is due, which replaces an earlier time; undefined removes the key. */
  note(key: string, at: number | undefined): void
  /** The time at which the key is due; undefined if it is not delayed. */
  timeOf(key: string): number | undefined
  /** Returns and removes the keys whose time has come. */
  removeDue(now: number): string[]
}

export function createDelayedQueue(): DelayedQueue {
  const due = new Map<string, number>()
  return {
    note(key, at) {
      if (at === undefined) due.delete(key)
      else due.set(key, at)
    },
    timeOf: (key) => due.get(key),
    removeDue(now) {
      const keys = [...due].filter(([, at]) => at <= now).map(([key]) => key)
      for (const key of keys) due.delete(key)
      return keys
    },
  }
}
