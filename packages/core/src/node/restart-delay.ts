// The delay before the agent starts a container again that the engine does not restart, as long as the engine's own: 100 ms,
// doubled with each exit up to a minute, and 100 ms again after a run of ten seconds.

const FIRST_MS = 100
const LAST_MS = 60_000
const LONG_RUN_MS = 10_000

/** A run of a container that ended. */
export interface EndedRun {
  readonly startedAt: string | null
  readonly finishedAt: string
}

/** The delay after a run, from the delay after the run before it; undefined: this is the first run that ended. */
export function restartDelay(beforeMs: number | undefined, { startedAt, finishedAt }: EndedRun): number {
  const ranMs = startedAt === null ? 0 : Date.parse(finishedAt) - Date.parse(startedAt)
  return beforeMs === undefined || ranMs >= LONG_RUN_MS ? FIRST_MS : Math.min(2 * beforeMs, LAST_MS)
}
