// Limits how many asynchronous tasks run at once; further tasks wait in order of arrival.

export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function createLimit(most: number): Limit {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The free slot passes directly to the next waiting task, so that a new task cannot overtake it.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
