// When time alone may change a decision: the deployments that are to be looked at again, and when. A few at any moment, so
// they are simply gone through.

export interface DelayedQueue {
  /** Replaces what was noted of the key; undefined: nothing is due. */
  note(key: string, at: number | undefined): void
  /** Whose time has come; they are forgotten, since a look notes them anew. */
  take(now: number): string[]
}

export function createDelayedQueue(): DelayedQueue {
  const due = new Map<string, number>()
  return {
    note(key, at) {
      if (at === undefined) due.delete(key)
      else due.set(key, at)
    },
    take(now) {
      const come = [...due].filter(([, at]) => at <= now).map(([key]) => key)
      for (const key of come) due.delete(key)
      return come
    },
  }
}
