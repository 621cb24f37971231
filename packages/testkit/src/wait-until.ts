// Polls until a condition is true, so that no test waits for a fixed time.

import { setTimeout as pause } from 'node:timers/promises'

export interface WaitOptions {
  /** The awaited condition, quoted in the error, such as "etcd answers a read". */
  readonly what: string
  readonly timeoutMs?: number
  /** Pause between two attempts. By default 20 ms at first, and longer in a long wait, because each attempt costs CPU. */
  readonly intervalMs?: number
  /**
   * Called before each attempt. A returned text ends the wait with an error, for example because the process has exited.
   */
  readonly giveUp?: () => string | undefined
  /** Called when the time is up. The returned text is added to the error: what was seen instead. */
  readonly seen?: () => string
}

const FIRST_INTERVAL_MS = 20
const LONGEST_INTERVAL_MS = 100
/** A fiftieth of the time waited so far, so that a wait becomes at most 2 % longer. */
const intervalAfter = (waitedMs: number): number =>
  Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, waitedMs / 50))

/** Calls the probe until its result is neither undefined nor false. A probe that throws is retried. */
export async function waitUntil<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const startedAt = performance.now()
  const deadline = startedAt + (options.timeoutMs ?? 30_000)
  let last = 'the condition did not hold'
  while (performance.now() < deadline) {
    const reason = options.giveUp?.()
    if (reason !== undefined) throw new Error(`Waiting until ${options.what}: ${reason}`)
    try {
      const answer = await probe()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      last = String(error)
    }
    await pause(options.intervalMs ?? intervalAfter(performance.now() - startedAt))
  }
  const seen = options.seen === undefined ? '' : `\n${options.seen()}`
  throw new Error(
    `Waiting until ${options.what}: not within ${options.timeoutMs ?? 30_000} ms (${last}).${seen}`,
  )
}
