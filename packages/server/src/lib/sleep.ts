// Waits for a time. Uses the global timer, which the simulation replaces with virtual time.

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
