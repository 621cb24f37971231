// Limits concurrent work per tenant and queues the rest, so that a slow tenant does not delay other tenants.

export interface Bulkhead {
  /** Runs `work` when the tenant `key` has a free slot; returns undefined if the signal aborts before a slot is free. */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>
}

interface Lane {
  running: number
  /** Queued work of one tenant, in order of arrival. */
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
      else if (!(await waitForSlot(lane, signal))) return undefined
      try {
        return await work()
      } finally {
        leave(key, lane)
      }
    },
  }
}

/** Waits for a free slot. A slot passes directly to the first in the queue, so that later callers cannot overtake. */
function waitForSlot(lane: Lane, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (acquired: boolean): void => {
      lane.waiting.delete(acquire)
      signal.removeEventListener('abort', abandon)
      resolve(acquired)
    }
    const acquire = (): void => {
      lane.running += 1
      settle(true)
    }
    const abandon = (): void => settle(false)
    lane.waiting.add(acquire)
    signal.addEventListener('abort', abandon, { once: true })
  })
}
