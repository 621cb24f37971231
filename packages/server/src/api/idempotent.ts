// A POST with an Idempotency-Key: returns the stored response if there is one, otherwise runs the operation and stores
// the response. See docs/design/admission.md#idempotency.

import { canonicalJson } from '@holdfast/contract'
import type { Outcome } from '../operations/caller.ts'
import {
  type Idempotency,
  type IdempotentAnswers,
  idempotencyOf,
  type Kept,
  type KeptAnswer,
} from '../operations/idempotency.ts'
import type { ApiRequest, ApiResponse } from './endpoint.ts'

export async function respondOnce<T>(
  answers: IdempotentAnswers,
  request: ApiRequest,
  path: string,
  run: (idempotency: Idempotency | undefined) => Promise<Outcome<T>>,
  toResponse: (value: T) => ApiResponse,
): Promise<Outcome<ApiResponse>> {
  const { idempotencyKey, caller, body } = request
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : idempotencyOf(idempotencyKey, 'POST', path, canonicalJson(body))
  const before = idempotency && (await answers.recall(caller, idempotency))
  if (before !== undefined) return before
  const outcome = await run(idempotency)
  if (outcome.ok) return { ok: true, value: toResponse(outcome.value) }
  // A concurrent request with the same key may have succeeded, so that this request failed on a used name or a full
  // quota. The stored response of the successful request is then the right response.
  return (idempotency && (await answers.recall(caller, idempotency))) ?? outcome
}

export const kept = <T>(
  idempotency: Idempotency | undefined,
  answerOf: (value: T) => KeptAnswer,
): Kept<T> => ({ idempotency, answerOf })

interface TokenIssue<T> {
  /** Returns the part of the response that may be returned more than once. */
  withoutToken(issued: T): object
  run(kept: Kept<T>): Promise<Outcome<T>>
}

/** A new token is returned only once: stored responses and dry runs are without the token. */
export function issueOnce<T extends object>(
  answers: IdempotentAnswers,
  request: ApiRequest,
  path: string,
  { withoutToken, run }: TokenIssue<T>,
): Promise<Outcome<ApiResponse>> {
  const withoutSecret = (issued: T): KeptAnswer => ({ status: 201, body: withoutToken(issued) })
  const complete = (issued: T): KeptAnswer => ({ status: 201, body: issued })
  const shown = request.query.dryRun ? withoutSecret : complete
  return respondOnce(answers, request, path, (once) => run(kept(once, withoutSecret)), shown)
}
