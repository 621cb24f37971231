// Limits the requests of each token, and of each tenant whatever the number of its tokens, with token buckets per server
// replica. See docs/design/api.md#rate-limits.

import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'

export interface Rates {
  readonly requestsPerMinute: number
  readonly burst: number
  /** Rate and burst of a tenant, as a multiple of those of one token. */
  readonly tenantMultiple: number
}

interface Bucket {
  level: number
  at: number
}

/**
 * Returns the number of seconds until a request with this API token of this tenant is allowed; 0 if a request is allowed
 * now. A rejected request counts against neither.
 */
export type RateLimit = (token: string, tenant: string) => number

const MAX_BUCKETS = 50_000

export function createRateLimit(
  { requestsPerMinute, burst, tenantMultiple }: Rates,
  clock: Clock,
): RateLimit {
  const ofTokens = createBuckets(requestsPerMinute, burst)
  const ofTenants = createBuckets(requestsPerMinute * tenantMultiple, burst * tenantMultiple)
  return (token, tenant) => {
    const now = clock.now()
    const [own, shared] = [ofTokens.fill(token, now), ofTenants.fill(tenant, now)]
    const waitSeconds = Math.max(ofTokens.waitSeconds(own), ofTenants.waitSeconds(shared))
    if (waitSeconds > 0) return waitSeconds
    own.level -= 1
    shared.level -= 1
    return 0
  }
}

function createBuckets(perMinute: number, burst: number) {
  const buckets = createBoundedMap<string, Bucket>(MAX_BUCKETS)
  const perMs = perMinute / 60_000
  return {
    fill(key: string, now: number): Bucket {
      const bucket = buckets.get(key) ?? { level: burst, at: now }
      // If the clock was set back, the token bucket of the rate limit is not refilled.
      bucket.level = Math.min(burst, bucket.level + Math.max(0, now - bucket.at) * perMs)
      bucket.at = now
      buckets.set(key, bucket)
      return bucket
    },
    waitSeconds: ({ level }: Bucket): number => (level < 1 ? Math.ceil((1 - level) / perMs / 1000) : 0),
  }
}
