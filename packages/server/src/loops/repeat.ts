// Work that is done again and again, never twice at once; a failure is told and the next turn comes all the same.

export interface Repeating {
  /** Now rather than at the next turn. */
  nudge(): void
  /** Waits for what runs; nothing is begun any more. */
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
  const turn = (): void => {
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
          turn()
        }
      })
  }
  const timer = setInterval(turn, everyMs)
  return {
    nudge: turn,
    async stop() {
      clearInterval(timer)
      stopped = true
      await running
    },
  }
}
