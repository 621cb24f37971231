// At most so many pieces of work at once, in the order in which they came.

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
      // The place goes to the next one without becoming free in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
