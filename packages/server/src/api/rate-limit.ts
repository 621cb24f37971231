// A bucket of requests for each token and server replica. DECISIONS 6: 1,200 a minute with a burst of 300.

import type { Clock } from '../ports/clock.ts'

export interface Rates {
  readonly requestsPerMinute: number
  readonly burst: number
}

interface Bucket {
  level: number
  at: number
}

/** Zero when the request may pass, else after how many seconds it would. */
export type RateLimit = (token: string) => number

const MAX_BUCKETS = 50_000

export function createRateLimit({ requestsPerMinute, burst }: Rates, clock: Clock): RateLimit {
  const buckets = new Map<string, Bucket>()
  const perMs = requestsPerMinute / 60_000
  return (token) => {
    const now = clock.now()
    const bucket = buckets.get(token) ?? { level: burst, at: now }
    // A clock that stepped back gives nothing.
    bucket.level = Math.min(burst, bucket.level + Math.max(0, now - bucket.at) * perMs)
    bucket.at = now
    // Insertion order is the order of last use, so the longest idle goes first.
    buckets.delete(token)
    buckets.set(token, bucket)
    if (buckets.size > MAX_BUCKETS) dropOldest(buckets)
    if (bucket.level < 1) return Math.ceil((1 - bucket.level) / perMs / 1000)
    bucket.level -= 1
    return 0
  }
}

function dropOldest(buckets: Map<string, Bucket>): void {
  const [oldest] = buckets.keys()
  if (oldest !== undefined) buckets.delete(oldest)
}
