// A hot path is a number of operations, charged with their CPU time. Other files of this folder implement one each.

export interface Spent {
  readonly operations: number
  /** CPU time of the process, user and system, all threads. */
  readonly micros: number
}

export interface HotPath {
  /** Prepares and runs about `operations` operations. Only the operations themselves are charged. */
  run(operations: number): Promise<Spent>
}

/** Runs the operations and charges them with the CPU time of this process, which runs nothing else at the same time. */
export async function charge(operations: number, run: () => Promise<void> | void): Promise<Spent> {
  // Otherwise the garbage of the preparation would be charged to the operations.
  globalThis.gc?.({ type: 'minor' })
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return { operations, micros: user + system }
}

/** Runs `operate` with the numbers from 0 on, a fixed number of them at the same time. */
export async function inParallel(
  operations: number,
  atOnce: number,
  operate: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const call = async (): Promise<void> => {
    while (next < operations) {
      next += 1
      await operate(next - 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, call))
}
