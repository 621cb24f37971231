// Limits failed attempts with join tokens, exec tickets and sign-ins per address. An attempt is limited only after its
// credential has failed, so that a valid one is accepted whatever else its address has sent: many clients share the address
// of a proxy. See docs/design/api.md#rate-limits.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import { limited, type Outcome } from '../../operations/caller.ts'
import type { Clock } from '../../ports/clock.ts'

export interface FailedAttempts {
  /**
   * Records that a credential from `address` failed. Returns 0, or the seconds until the address may fail again if it has
   * failed too often; such an attempt is not recorded.
   */
  fail(address: string): number
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
    fail(address) {
      const now = clock.now()
      const left = leftFor(address, now)
      if (left < 1) return Math.ceil((1 - left) / perMs / 1000)
      addresses.set(address, { left: left - 1, at: now })
      return 0
    },
  }
}

/** The outcome of an attempt. One that failed with `code` is `rate_limited` instead if its address failed too often. */
export function limitFailure<T>(
  attempts: FailedAttempts,
  address: string,
  outcome: Outcome<T>,
  { code, field }: { readonly code: string; readonly field: string },
): Outcome<T> {
  if (outcome.ok || !outcome.rejections.some((rejection) => rejection.code === code)) return outcome
  const waitSeconds = attempts.fail(address)
  return waitSeconds > 0 ? limited(field, waitSeconds) : outcome
}
