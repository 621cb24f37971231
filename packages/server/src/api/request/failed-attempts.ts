// Limits failed attempts with join tokens and exec tickets per address. Successful attempts do not use up the limit.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'

export interface FailedAttempts {
  /** Seconds until `address` may make another attempt; 0 if an attempt is allowed now. */
  waitSeconds(address: string): number
  record(address: string): void
}

interface Failures {
  /** Number of further attempts that may fail before the address must wait. */
  left: number
  at: number
}

const MAX_ADDRESSES = 50_000

export function createFailedAttempts(perMinute: number, clock: Clock): FailedAttempts {
  const addresses = createBoundedMap<string, Failures>(MAX_ADDRESSES)
  const perMs = perMinute / 60_000
  const leftFor = (address: string, now: number): number => {
    const known = addresses.get(address)
    // If the clock was set back, the address gets no additional attempts.
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
