// A failed call as an exception for the query cache, and its explanation: what happened, why, and what to do.

import type { Failure, Result } from '@holdfast/client'
import type { Rejection } from '@holdfast/contract'
import { texts } from '../texts/en.ts'

export class CallError extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.kind)
    this.failure = failure
  }
}

export function requireValue<T>(result: Result<T>): T {
  if (!result.ok) throw new CallError(result.failure)
  return result.value
}

const UNAUTHENTICATED = 401
const NOT_FOUND = 404
const PRECONDITION_FAILED = 412

export const isSignedOut = (error: unknown): boolean => statusOf(error) === UNAUTHENTICATED
export const isNotFound = (error: unknown): boolean => statusOf(error) === NOT_FOUND

function statusOf(error: unknown): number | undefined {
  return error instanceof CallError && 'status' in error.failure ? error.failure.status : undefined
}

export interface FailureText {
  readonly title: string
  readonly detail?: string
  readonly next?: string
  readonly rejections: readonly Rejection[]
}

export function explainFailure(error: unknown): FailureText {
  if (!(error instanceof CallError))
    return { title: texts.failures.page, next: texts.failures.pageNext, rejections: [] }
  const { failure } = error
  switch (failure.kind) {
    case 'rejected':
      return {
        title: failure.rejections[0]?.why ?? texts.failures.rejected,
        rejections: failure.rejections,
        ...(failure.status === PRECONDITION_FAILED ? { next: texts.failures.conflictNext } : {}),
      }
    case 'unreachable':
      return {
        title: texts.failures.unreachable,
        detail: failure.reason,
        next: texts.failures.unreachableNext,
        rejections: [],
      }
    case 'unexpected':
      return {
        title: texts.failures.unexpected,
        detail: `${failure.status}: ${failure.reason}`,
        next: texts.failures.unexpectedNext,
        rejections: [],
      }
    case 'interrupted':
      return { title: texts.failures.interrupted, rejections: [] }
  }
}
