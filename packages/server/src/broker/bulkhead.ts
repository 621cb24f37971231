// So many at a time for each tenant, and the others wait: who is slow holds up itself alone. Nobody else learns of it.

export interface Bulkhead {
  /** Undefined where no place came free before the signal; the work was not begun then. */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>
}

interface Lane {
  running: number
  /** In the order in which they came. */
  readonly waiting: Set<() => void>
}

export function createBulkhead(limit: number): Bulkhead {
  const lanes = new Map<string, Lane>()
  const leave = (key: string, lane: Lane): void => {
    lane.running -= 1
    const [next] = lane.waiting
    if (next !== undefined) next()
    else if (lane.running === 0) lanes.delete(key)
  }
  return {
    async run(key, work, signal) {
      const lane = lanes.get(key) ?? { running: 0, waiting: new Set() }
      lanes.set(key, lane)
      if (lane.running < limit) lane.running += 1
      else if (!(await placeIn(lane, signal))) return undefined
      try {
        return await work()
      } finally {
        leave(key, lane)
      }
    },
  }
}

/** The place is taken over by whoever is first in the row, before anybody else can come. */
function placeIn(lane: Lane, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (taken: boolean): void => {
      lane.waiting.delete(take)
      signal.removeEventListener('abort', giveUp)
      resolve(taken)
    }
    const take = (): void => {
      lane.running += 1
      settle(true)
    }
    const giveUp = (): void => settle(false)
    lane.waiting.add(take)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}
