// Wait for a condition, never for a time.

import { setTimeout as pause } from 'node:timers/promises'

export interface WaitOptions {
  /** Named in the error: "etcd answers a read". */
  readonly what: string
  readonly timeoutMs?: number
  readonly intervalMs?: number
  /** Asked before each try: a sentence ends the wait at once, as when the process has gone. */
  readonly giveUp?: () => string | undefined
}

/** Calls the probe until it answers something else than undefined or false; a probe that throws has not succeeded yet. */
export async function waitUntil<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 30_000)
  let last = 'it did not hold'
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
  throw new Error(`Waiting until ${options.what}: not within ${options.timeoutMs ?? 30_000} ms (${last}).`)
}
