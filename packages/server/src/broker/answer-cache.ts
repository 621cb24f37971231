// Caches results of image checks for a few seconds and shares requests in progress, so that a registry gets at most one
// request in 10 s for the same tenant, reference and credential.

import { createBoundedMap } from '../lib/bounded-map.ts'

export interface AnswerCache<T> {
  /** Returns the cached result for `key`, or the result of the request in progress, or the result of a new request. */
  of(key: string, ask: () => Promise<T>): Promise<T>
}

export interface AnswerCacheOptions<T> {
  readonly nowMs: () => number
  /** Returns how long a result is cached, in milliseconds; 0 if it is not cached. */
  readonly keepMs: (answer: T) => number
  readonly capacity: number
}

interface CacheEntry<T> {
  readonly answer: Promise<T>
  /** Time at which the cached result expires; undefined while the request is in progress. */
  until: number | undefined
}

export function createAnswerCache<T>(options: AnswerCacheOptions<T>): AnswerCache<T> {
  const kept = createBoundedMap<string, CacheEntry<T>>(options.capacity)
  return {
    of: (key, ask) => {
      const found = kept.get(key)
      if (found !== undefined && (found.until === undefined || options.nowMs() < found.until))
        return found.answer
      const entry: CacheEntry<T> = { answer: ask(), until: undefined }
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
