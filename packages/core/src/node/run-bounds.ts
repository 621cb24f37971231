// Separates the log lines of a container's runs. The engine may record a start after the first lines of the run, and an end
// before the last lines are read, but it waits between two runs: a time in the middle separates them.

/** The engine restarts a container no sooner than this after its exit. */
const MIN_RESTART_MS = 100

/** A time between the run that ended and the next one; undefined if `startedAt` is not the start of a next run. */
export function betweenRuns(endedAt: string, startedAt: string | null): string | undefined {
  const endedMs = Date.parse(endedAt)
  const waitedMs = startedAt === null ? 0 : Date.parse(startedAt) - endedMs
  return waitedMs < MIN_RESTART_MS ? undefined : new Date(endedMs + waitedMs / 2).toISOString()
}

/** A time after the last line of a run that ended and before the first line of the next one, whose start is unknown. */
export const afterRun = (endedAt: string): string =>
  new Date(Date.parse(endedAt) + MIN_RESTART_MS / 2).toISOString()
