// `Idempotency-Key` on POST: repeats the first 2xx response for a configured time. The response is stored in the transaction of the write,
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

/** Identifies a request with an Idempotency-Key: the id of the stored response, and a hash of the request. */
export interface Idempotency {
  readonly id: string
  readonly requestHash: string
}

export interface IdempotentAnswers {
  /** The stored response of an earlier request with this key; a rejection if the earlier request was a different one. */
  recall(caller: Caller, idempotency: Idempotency): Promise<Outcome<KeptAnswer> | undefined>
  /** Stores the response of a request. False if a response is already stored: the request must not be executed again. */
  keep(transaction: Transaction, caller: Caller, idempotency: Idempotency, answer: KeptAnswer): boolean
}

const HOUR_MS = 3_600_000

/**
 * Id and hash of a request. The hash is keyed with the Idempotency-Key, which is not stored, because a reader of the
 * store could guess a short secret in the body from a plain hash.
 */
export function idempotencyOf(key: string, method: string, path: string, body: string): Idempotency {
  const requestHash = createHmac('sha256', key).update(`${method} ${path}\n${body}`).digest('hex')
  return { id: hash('sha256', key, 'hex'), requestHash }
}

export function createIdempotentAnswers(
  store: Pick<Store, 'read' | 'keyspace'>,
  clock: Clock,
  keptHours: number,
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
      const expiresAt = new Date(clock.now() + keptHours * HOUR_MS).toISOString()
      transaction.put(address, { v: 1, requestHash, status, body, etag, expiresAt })
      return true
    },
  }
}

/** How to store the response of a request, if the request has an Idempotency-Key. */
export interface Kept<T> {
  readonly idempotency: Idempotency | undefined
  answerOf(value: T): KeptAnswer
}

/**
 * Ends the decision of a POST: commits with the stored response, or aborts because a request with the same key was
 * committed first. After an abort, the caller of this function returns the response of that first request.
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

/** Ends a request that changes nothing: no write is needed, unless the response must be stored for an Idempotency-Key. */
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
