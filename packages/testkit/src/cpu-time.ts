// Measures work by the processor time of this thread. Other load on the machine does not change it.

/** Milliseconds of processor time that the work took. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
