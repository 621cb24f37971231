// `Idempotency-Key` on POST: repeats the first 2xx response for 24 hours. The response is stored in the transaction of the write,
// so a retry after a lost response cannot repeat the work. Rejections are not stored (docs/design/admission.md#idempotency).

import { createHmac, hash } from 'node:crypto'
import { defined } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Clock } from '../ports/clock.ts'
import { idempotentAnswers } from '../store/records.ts'
import type { Store, TransactionDecision } from '../store/store.ts'
import { inTenant, type Transaction } from '../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from './caller.ts'

export interface KeptAnswer {
  readonly status: number
  readonly body: object
  readonly etag?: string
}

/** The id under which a response is stored, and a hash of its request. */
export interface Idempotency {
  readonly id: string
  readonly requestHash: string
}

export interface IdempotentAnswers {
  /** The response to an earlier request with this key; a rejection if that request was a different one. */
  recall(caller: Caller, idempotency: Idempotency): Promise<Outcome<KeptAnswer> | undefined>
  /** False when a response is already stored: the work must not be repeated. */
  keep(transaction: Transaction, caller: Caller, idempotency: Idempotency, answer: KeptAnswer): boolean
}

const DAY_MS = 24 * 3_600_000

/** Keyed, because a body may contain secrets and a plain hash of a short one can be guessed by a reader of the store. */
export function idempotencyOf(key: string, method: string, path: string, body: string): Idempotency {
  const requestHash = createHmac('sha256', key).update(`${method} ${path}\n${body}`).digest('hex')
  return { id: hash('sha256', key, 'hex'), requestHash }
}

export function createIdempotentAnswers(
  store: Pick<Store, 'read' | 'keyspace'>,
  clock: Clock,
): IdempotentAnswers {
  return {
    async recall({ tenant }, { id, requestHash }) {
      const [kept] = await store.read(idempotentAnswers, [
        store.keyspace.tenantKey(tenant, idempotentAnswers.folder, id),
      ])
      if (kept === undefined) return undefined
      if (kept.requestHash !== requestHash)
        return refused(reject('idempotency_key_reused', 'Idempotency-Key', undefined))
      const { status, body, etag } = kept
      return done({ status, body, ...defined({ etag: etag ?? undefined }) })
    },
    keep(transaction, { tenant }, { id, requestHash }, { status, body, etag = null }) {
      const address = inTenant(tenant, idempotentAnswers, id)
      if (!transaction.requireAbsent(address)) return false
      const expiresAt = new Date(clock.now() + DAY_MS).toISOString()
      transaction.put(address, { v: 1, requestHash, status, body, etag, expiresAt })
      return true
    },
  }
}

/** How the response of a request is stored, if it has an Idempotency-Key. */
export interface Kept<T> {
  readonly idempotency: Idempotency | undefined
  answerOf(value: T): KeptAnswer
}

/**
 * Ends the decision of a POST: commits with the stored response, or aborts because the same request was committed first.
 * The caller then recalls that response.
 */
export function keepOnce<T>(
  answers: IdempotentAnswers,
  transaction: Transaction,
  caller: Caller,
  { idempotency, answerOf }: Kept<T>,
  value: T,
): TransactionDecision<Outcome<T>> {
  const isFirst = idempotency === undefined || answers.keep(transaction, caller, idempotency, answerOf(value))
  if (isFirst) return { kind: 'commit', result: done(value) }
  return { kind: 'abort', result: refused(reject('idempotency_key_reused', 'Idempotency-Key', undefined)) }
}

/** For a request that changes nothing: succeeds without a write, unless its response must be stored for its key. */
export function keepUnchanged<T>(
  answers: IdempotentAnswers,
  transaction: Transaction,
  caller: Caller,
  kept: Kept<T>,
  value: T,
): TransactionDecision<Outcome<T>> {
  if (kept.idempotency === undefined) return { kind: 'abort', result: done(value) }
  return keepOnce(answers, transaction, caller, kept, value)
}
