// Lets callers wait until the cache has reached a revision, for example the revision of the caller's own write.

const NUDGE_EVERY_MS = 10

export interface RevisionGate {
  readonly revision: number
  advance(reached: number): void
  /**
   * `nudge` requests progress of the watch: writes to keys outside the watch raise etcd's revision without an event.
   */
  waitFor(awaited: number, deadlineMs: number, nudge: () => void): Promise<void>
}

export class CacheBehindError extends Error {
  override readonly name = 'CacheBehindError'
}

export function createRevisionGate(): RevisionGate {
  let revision = 0
  const waiters = new Map<() => void, number>()
  let nudging: NodeJS.Timeout | undefined
  // All waiting callers, of which there may be thousands, share one timer.
  const enter = (release: () => void, awaited: number, nudge: () => void): void => {
    waiters.set(release, awaited)
    nudging ??= setInterval(nudge, NUDGE_EVERY_MS)
  }
  const leave = (release: () => void): void => {
    waiters.delete(release)
    if (waiters.size > 0) return
    clearInterval(nudging)
    nudging = undefined
  }
  return {
    get revision() {
      return revision
    },
    advance(reached) {
      if (reached > revision) revision = reached
      for (const [release, awaited] of waiters) if (awaited <= revision) release()
    },
    waitFor(awaited, deadlineMs, nudge) {
      if (awaited <= revision) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          clearTimeout(deadline)
          leave(release)
          settle()
        }
        const release = () => finish(resolve)
        const behind = () =>
          new CacheBehindError(`the cache is at revision ${revision}, revision ${awaited} was requested`)
        const deadline = setTimeout(() => finish(() => reject(behind())), Math.max(0, deadlineMs))
        enter(release, awaited, nudge)
      })
    },
  }
}
