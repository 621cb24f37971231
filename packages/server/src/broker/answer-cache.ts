// Keeps answers for a few seconds and shares the questions that are under way. SAFETY 4a step 2: a registry is asked
// at most once in 10 s for one tenant, reference and credential. Bounded: the oldest answer makes room.

import { createBoundedMap } from '../lib/bounded-map.ts'

export interface AnswerCache<T> {
  /** The kept answer, or that of the running question, or a new one. */
  of(key: string, ask: () => Promise<T>): Promise<T>
}

export interface AnswerCacheOptions<T> {
  readonly nowMs: () => number
  /** How long this answer may be given again; 0: not at all. */
  readonly keepMs: (answer: T) => number
  readonly capacity: number
}

interface Kept<T> {
  readonly answer: Promise<T>
  /** Undefined while the question is under way. */
  until: number | undefined
}

export function createAnswerCache<T>(options: AnswerCacheOptions<T>): AnswerCache<T> {
  const kept = createBoundedMap<string, Kept<T>>(options.capacity)
  return {
    of: (key, ask) => {
      const found = kept.get(key)
      if (found !== undefined && (found.until === undefined || options.nowMs() < found.until))
        return found.answer
      const entry: Kept<T> = { answer: ask(), until: undefined }
      kept.set(key, entry)
      entry.answer.then(
        (answer) => {
          entry.until = options.nowMs() + options.keepMs(answer)
        },
        () => {
          entry.until = 0
        },
      )
      return entry.answer
    },
  }
}
