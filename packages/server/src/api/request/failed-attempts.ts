// How often an address may fail to join. DECISIONS 6: 5 failures a minute; those that succeed are not counted.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'

export interface FailedJoins {
  /** Zero when this address may try, else after how many seconds it may. */
  waitSeconds(address: string): number
  note(address: string): void
}

interface Failures {
  /** How many more may fail now. */
  left: number
  at: number
}

const MAX_ADDRESSES = 50_000

export function createFailedJoins(perMinute: number, clock: Clock): FailedJoins {
  const addresses = createBoundedMap<string, Failures>(MAX_ADDRESSES)
  const perMs = perMinute / 60_000
  const leftFor = (address: string, now: number): number => {
    const known = addresses.get(address)
    // A clock that stepped back gives nothing.
    return known === undefined
      ? perMinute
      : Math.min(perMinute, known.left + Math.max(0, now - known.at) * perMs)
  }
  return {
    waitSeconds(address) {
      const left = leftFor(address, clock.now())
      return left >= 1 ? 0 : Math.ceil((1 - left) / perMs / 1000)
    },
    note(address) {
      const now = clock.now()
      const left = Math.max(0, leftFor(address, now) - 1)
      addresses.set(address, { left, at: now })
    },
  }
}
