// The time between a failed attempt of a job and the next one: a second, doubled with each failure up to a minute.

const FIRST_MS = 1000
const LONGEST_MS = 60_000

/** `failures`: how many attempts have failed, at least one. */
export const retryDelayMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS)
