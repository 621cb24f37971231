// Runs a function at an interval, never twice at the same time. An error is reported and the next run starts as usual.

export interface Repeating {
  /** Runs the function now, or once more after the current run if the function is already running. */
  nudge(): void
  /** Waits for the current run to end and starts no further run. */
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
