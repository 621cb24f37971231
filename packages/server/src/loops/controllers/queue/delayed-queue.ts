// Deployments to be requeued at a given time, because time alone may change the decision about them. There are few at any
// moment, so a scan of all of them is enough.

export interface DelayedQueue {
  /** Replaces the time of the key; undefined removes it. */
  note(key: string, at: number | undefined): void
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
    removeDue(now) {
      const keys = [...due].filter(([, at]) => at <= now).map(([key]) => key)
      for (const key of keys) due.delete(key)
      return keys
    },
  }
}
