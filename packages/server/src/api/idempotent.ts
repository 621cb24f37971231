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

interface Issuing<T> {
  /** What may be told twice. */
  withoutToken(issued: T): object
  run(kept: Kept<T>): Promise<Outcome<T>>
}

/** A token is answered once, whoever asks twice: what is kept for a repeated request, or only planned, is without it. */
export function issueOnce<T extends object>(
  answers: IdempotentAnswers,
  request: ApiRequest,
  path: string,
  { withoutToken, run }: Issuing<T>,
): Promise<Outcome<Answer>> {
  const remembered = (issued: T): KeptAnswer => ({ status: 201, body: withoutToken(issued) })
  const shown = request.query.dryRun ? remembered : (issued: T): KeptAnswer => ({ status: 201, body: issued })
  return answerOnce(answers, request, path, (once) => run(kept(once, remembered)), shown)
}
