// Runs work at an interval, never twice at the same time. A failed run is reported and the next one runs as usual.

export interface Repeating {
  /** Runs the work now; if it is already running, once more after that. */
  nudge(): void
  /** Waits for the current run and starts no other. */
  stop(): Promise<void>
}

export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Repeating {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  const run = (): void => {
    if (stopped) return
    if (running !== undefined) {
      again = true
      return
    }
    running = work()
      .catch(onError)
      .finally(() => {
        running = undefined
        if (again) {
          again = false
          run()
        }
      })
  }
  const timer = setInterval(run, everyMs)
  return {
    nudge: run,
    async stop() {
      clearInterval(timer)
      stopped = true
      await running
    },
  }
}
