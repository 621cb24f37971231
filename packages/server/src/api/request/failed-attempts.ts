// Limits failed attempts per address, for join tokens and exec tickets. Successful attempts are not counted.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'

export interface FailedAttempts {
  /** Zero if this address may try now, otherwise the seconds until it may. */
  waitSeconds(address: string): number
  record(address: string): void
}

interface Failures {
  /** How many more attempts may fail now. */
  left: number
  at: number
}

const MAX_ADDRESSES = 50_000

export function createFailedAttempts(perMinute: number, clock: Clock): FailedAttempts {
  const addresses = createBoundedMap<string, Failures>(MAX_ADDRESSES)
  const perMs = perMinute / 60_000
  const leftFor = (address: string, now: number): number => {
    const known = addresses.get(address)
    // A clock that was set back refills nothing.
    return known === undefined
      ? perMinute
      : Math.min(perMinute, known.left + Math.max(0, now - known.at) * perMs)
  }
  return {
    waitSeconds(address) {
      const left = leftFor(address, clock.now())
      return left >= 1 ? 0 : Math.ceil((1 - left) / perMs / 1000)
    },
    record(address) {
      const now = clock.now()
      const left = Math.max(0, leftFor(address, now) - 1)
      addresses.set(address, { left, at: now })
    },
  }
}
