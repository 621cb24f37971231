// `Idempotency-Key` on POST: the first 2xx answer again for 24 hours, written in the transaction that it answers, so that
// a retry after a lost answer cannot do the work twice. DECISIONS 2. A refusal keeps nothing.

import { createHmac, hash } from 'node:crypto'
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

/** What one request carries through its operation: where its answer is kept and what it asked. */
export interface Idempotency {
  readonly id: string
  readonly requestHash: string
}

export interface IdempotentAnswers {
  /** The answer of an earlier request with this key; a refusal when that request was another one. */
  recall(caller: Caller, idempotency: Idempotency): Promise<Outcome<KeptAnswer> | undefined>
  /** False when an answer is there already: the work must not be done again. */
  keep(transaction: Transaction, caller: Caller, idempotency: Idempotency, answer: KeptAnswer): boolean
}

const DAY_MS = 24 * 3_600_000

/** A body may hold secret values, and the hash of a short one can be guessed: who reads the store does not have the key. */
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
      return done({ status, body, ...(etag === null ? {} : { etag }) })
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

/** How one request's answer is kept, if its caller asked for that. */
export interface Kept<T> {
  readonly idempotency: Idempotency | undefined
  answerOf(value: T): KeptAnswer
}

/**
 * The end of every POST's decision: commit with the answer beside it, or stop because the same request got there first.
 * The refusal is a sign to the caller to recall that answer.
 */
export function keepOnce<T>(
  answers: IdempotentAnswers,
  transaction: Transaction,
  caller: Caller,
  { idempotency, answerOf }: Kept<T>,
  value: T,
): TransactionDecision<Outcome<T>> {
  const first = idempotency === undefined || answers.keep(transaction, caller, idempotency, answerOf(value))
  if (first) return { kind: 'commit', result: done(value) }
  return { kind: 'abort', result: refused(reject('idempotency_key_reused', 'Idempotency-Key', undefined)) }
}

/** The same where nothing is to change: without a key there is nothing to store, with one its answer is the first too. */
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
