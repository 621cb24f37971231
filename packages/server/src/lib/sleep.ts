// Waits for a time. Uses the global timer, so that the simulation's virtual time applies.

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
