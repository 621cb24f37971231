// One piece of work at a time; all who ask for it while it runs share the next run, which sees what they saw.

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
      .catch(() => {})
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
}
