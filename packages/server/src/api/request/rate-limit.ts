// Limits the requests of each token with a token bucket per server replica. See docs/design/api.md#rate-limits.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'

export interface Rates {
  readonly requestsPerMinute: number
  readonly burst: number
}

interface Bucket {
  level: number
  at: number
}

/** Returns the number of seconds until a request with this API token is allowed; 0 if a request is allowed now. */
export type RateLimit = (token: string) => number

const MAX_BUCKETS = 50_000

export function createRateLimit({ requestsPerMinute, burst }: Rates, clock: Clock): RateLimit {
  const buckets = createBoundedMap<string, Bucket>(MAX_BUCKETS)
  const perMs = requestsPerMinute / 60_000
  return (token) => {
    const now = clock.now()
    const bucket = buckets.get(token) ?? { level: burst, at: now }
    // If the clock was set back, the token bucket of the rate limit is not refilled.
    bucket.level = Math.min(burst, bucket.level + Math.max(0, now - bucket.at) * perMs)
    bucket.at = now
    buckets.set(token, bucket)
    if (bucket.level < 1) return Math.ceil((1 - bucket.level) / perMs / 1000)
    bucket.level -= 1
    return 0
  }
}
