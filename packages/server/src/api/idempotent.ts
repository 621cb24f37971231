// A POST with an Idempotency-Key: the kept answer if there is one, else the work with its answer kept beside it.

import { canonicalJson } from '@holdfast/contract'
import type { Outcome } from '../operations/caller.ts'
import {
  type Idempotency,
  type IdempotentAnswers,
  idempotencyOf,
  type Kept,
  type KeptAnswer,
} from '../operations/idempotency.ts'
import type { Answer, ApiRequest } from './endpoint.ts'

export async function answerOnce<T>(
  answers: IdempotentAnswers,
  request: ApiRequest,
  path: string,
  run: (idempotency: Idempotency | undefined) => Promise<Outcome<T>>,
  toAnswer: (value: T) => Answer,
): Promise<Outcome<Answer>> {
  const { idempotencyKey, caller, body } = request
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : idempotencyOf(idempotencyKey, 'POST', path, canonicalJson(body))
  const before = idempotency && (await answers.recall(caller, idempotency))
  if (before !== undefined) return before
  const outcome = await run(idempotency)
  if (outcome.ok) return { ok: true, value: toAnswer(outcome.value) }
  // The same request may have been answered while this one was on its way, and this one then met what that one made: the
  // name was taken, or the quota reached.
  return (idempotency && (await answers.recall(caller, idempotency))) ?? outcome
}

export const kept = <T>(
  idempotency: Idempotency | undefined,
  answerOf: (value: T) => KeptAnswer,
): Kept<T> => ({ idempotency, answerOf })
