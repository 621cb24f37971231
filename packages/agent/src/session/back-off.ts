// How long to wait before dialling again: longer after each failure, never the same for all nodes, so that a server that
// comes back is not met by all of them at once.

const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/** `random` is from 0 up to 1. The wait is between half of the step and all of it. */
export function backOffMs(failures: number, random: number): number {
  const step = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16))
  return step * (0.5 + random / 2)
}
