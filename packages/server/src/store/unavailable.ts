// The error of a store that cannot answer: etcd is unavailable, or the cache of this server replica lags behind etcd.

import { EngineError } from '../ports/key-value.ts'
import { CacheBehindError } from './cache/revision-gate.ts'

/** The store did not answer in time. A write either did not happen, or its outcome is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/**
 * Rethrows transient errors as StoreUnavailableError. An invalid request is a fault of the server and
 * is rethrown as it is.
 */
export function asUnavailable(error: unknown): never {
  if (isTransient(error)) throw new StoreUnavailableError(error.message, { cause: error })
  throw error
}

function isTransient(error: unknown): error is Error {
  if (error instanceof CacheBehindError) return true
  return error instanceof EngineError && error.reason !== 'invalid' && error.reason !== 'too_large'
}
