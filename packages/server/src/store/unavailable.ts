// The store's word for "we could not decide" (DESIGN 4): the engine is away, or this replica has not caught up with it.

import { EngineError } from '../ports/key-value.ts'
import { CacheBehindError } from './cache/revision-gate.ts'

/** The store did not answer in time. Whether the write happened is known to be no, or not known. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** Rethrows what passes with time as unavailable. A request that the engine calls invalid is our own fault and stays so. */
export function asUnavailable(error: unknown): never {
  if (isAway(error)) throw new StoreUnavailableError(error.message, { cause: error })
  throw error
}

function isAway(error: unknown): error is Error {
  if (error instanceof CacheBehindError) return true
  return error instanceof EngineError && error.reason !== 'invalid' && error.reason !== 'too_large'
}
