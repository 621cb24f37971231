// Delays the rejections of tenants above their rate. A client that repeats at once would otherwise keep the server busy with
// rejections; a delayed one sends each connection's next request a second later, which is the least that Retry-After asks for.

import { createKeyLimit } from '../../lib/key-limit.ts'
import { sleep } from '../../lib/sleep.ts'

/** Resolves when a rejection for this tenant may be sent. */
export type HoldBack = (tenant: string) => Promise<void>

export const HELD_MS = 1_000
/** Rejections of one tenant that wait at the same time. Further ones are sent at once, so that they use no memory. */
export const MOST_HELD = 500

export function createHoldBack(): HoldBack {
  const held = createKeyLimit<string>(MOST_HELD)
  return async (tenant) => {
    const release = held.reserve(tenant)
    if (release === undefined) return
    await sleep(HELD_MS)
    release()
  }
}
