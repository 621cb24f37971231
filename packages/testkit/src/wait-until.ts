// Polls until a condition is true, so that no test waits for a fixed time.

import { setTimeout as pause } from 'node:timers/promises'

export interface WaitOptions {
  /** The awaited condition, quoted in the error, such as "etcd answers a read". */
  readonly what: string
  readonly timeoutMs?: number
  readonly intervalMs?: number
  /**
   * Called before each attempt. A returned text ends the wait with an error, for example because the process has exited.
   */
  readonly giveUp?: () => string | undefined
  /** Called when the time is up. The returned text is added to the error: what was seen instead. */
  readonly seen?: () => string
}

/** Calls the probe until its result is neither undefined nor false. A probe that throws is retried. */
export async function waitUntil<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 30_000)
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
    await pause(options.intervalMs ?? 20)
  }
  const seen = options.seen === undefined ? '' : `\n${options.seen()}`
  throw new Error(
    `Waiting until ${options.what}: not within ${options.timeoutMs ?? 30_000} ms (${last}).${seen}`,
  )
}
