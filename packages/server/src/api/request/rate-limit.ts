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

export interface RateLimit {
  /**
   * Returns the number of seconds until a request with this API token of this tenant is allowed; 0 if a request is allowed
   * now. A rejected request counts against neither.
   */
  admit(token: string, tenant: string): number
  /** Counts an admitted request as so many more: it was known only later how much it costs. */
  charge(token: string, tenant: string, requests: number): void
}

const MAX_BUCKETS = 50_000

export function createRateLimit(
  { requestsPerMinute, burst, tenantMultiple }: Rates,
  clock: Clock,
): RateLimit {
  const ofTokens = createBuckets(requestsPerMinute, burst)
  const ofTenants = createBuckets(requestsPerMinute * tenantMultiple, burst * tenantMultiple)
  const bucketsOf = (token: string, tenant: string): readonly [Bucket, Bucket] => {
    const now = clock.now()
    return [ofTokens.fill(token, now), ofTenants.fill(tenant, now)]
  }
  const charge: RateLimit['charge'] = (token, tenant, requests) => {
    for (const bucket of bucketsOf(token, tenant)) bucket.level -= requests
  }
  return {
    admit(token, tenant) {
      const [own, shared] = bucketsOf(token, tenant)
      const waitSeconds = Math.max(ofTokens.waitSeconds(own), ofTenants.waitSeconds(shared))
      if (waitSeconds > 0) return waitSeconds
      charge(token, tenant, 1)
      return 0
    },
    charge,
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
