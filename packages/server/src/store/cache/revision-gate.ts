// Lets callers wait until the cache has reached a revision, for example the revision of the caller's own write.

const NUDGE_EVERY_MS = 10

export interface RevisionGate {
  readonly revision: number
  advance(reached: number): void
  /**
   * `nudge` asks etcd for its current revision, because writes of other keys raise the revision without an event here.
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
  // One timer serves all waiting callers, of which there may be thousands.
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
