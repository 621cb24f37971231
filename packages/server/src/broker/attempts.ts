// Each attempt to make a container is answered once: who asks again with the same one is not the agent that made it up.
// DECISIONS 8, SAFETY 4e (last point). Bounded: the oldest is forgotten.

import { createBoundedMap } from '../lib/bounded-map.ts'

export interface Attempts {
  /** False where it was answered, or is being answered. */
  take(assignmentId: string, attempt: string): boolean
  /** No answer was given after all. */
  release(assignmentId: string, attempt: string): void
}

const CAPACITY = 100_000

export function createAttempts(capacity = CAPACITY): Attempts {
  const taken = createBoundedMap<string, true>(capacity)
  const keyOf = (assignmentId: string, attempt: string): string => `${assignmentId} ${attempt}`
  return {
    take(assignmentId, attempt) {
      const key = keyOf(assignmentId, attempt)
      if (taken.has(key)) return false
      taken.set(key, true)
      return true
    },
    release: (assignmentId, attempt) => taken.delete(keyOf(assignmentId, attempt)),
  }
}
