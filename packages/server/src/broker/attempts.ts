// Answers each container creation attempt once: a second request with the same attempt does not come from the agent that
// generated it. The number of remembered attempts is limited.

import { createBoundedMap } from '../lib/bounded-map.ts'

export interface Attempts {
  /** False if the attempt was answered or is being answered. */
  claim(assignmentId: string, attempt: string): boolean
  /** Allows the attempt again, because it got no material. */
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
