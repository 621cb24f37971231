// The broker answers each attempt to create a container once. A second request with the same attempt id is refused, as it
// cannot come from the agent that generated the id. The number of remembered attempts is limited.

import { createBoundedMap } from '../lib/bounded-map.ts'

export interface Attempts {
  /** Claims an attempt; returns false if the attempt was already answered or is being answered. */
  claim(assignmentId: string, attempt: string): boolean
  /** Allows an attempt to be claimed again, because its request got no secret values. */
  release(assignmentId: string, attempt: string): void
}

const CAPACITY = 100_000

export function createAttempts(capacity = CAPACITY): Attempts {
  const claimed = createBoundedMap<string, true>(capacity)
  const keyOf = (assignmentId: string, attempt: string): string => `${assignmentId} ${attempt}`
  return {
    claim(assignmentId, attempt) {
      const key = keyOf(assignmentId, attempt)
      if (claimed.has(key)) return false
      claimed.set(key, true)
      return true
    },
    release: (assignmentId, attempt) => claimed.delete(keyOf(assignmentId, attempt)),
  }
}
