// Runs one task at a time. All calls during a run share the next run, which starts after those calls and sees their
// changes.

export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    running = work().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (running === undefined) return run()
    next ??= running
      // Ignores a failure of the previous run, which is reported to the callers of that run.
      .catch(() => {})
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
}
