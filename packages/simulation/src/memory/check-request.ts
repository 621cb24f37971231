// Rejects invalid requests before any lookup or write, with etcd's reasons and in etcd's order.

import {
  type Compare,
  EngineError,
  type KeyRange,
  type Operation,
  type RangeRequest,
  type TransactionRequest,
} from '@holdfast/server/ports/key-value'
import { orderOf, orderRangeOf } from './key-order.ts'
import { sizeOfRequest } from './request-size.ts'

const MAX_OPERATIONS = 128
/** Size limits of etcd: the largest request that its log accepts, and the largest message that its transport reads. */
const MAX_LOG_BYTES = 1_572_864
const MAX_MESSAGE_BYTES = MAX_LOG_BYTES + 524_288

export const refuse = (reason: EngineError['reason'], message: string): EngineError =>
  new EngineError(reason, 'no', message)

export function checkRange(request: RangeRequest): void {
  requireInteger(request.limit)
  requireInteger(request.revision)
  requireKey(request)
}

export function checkTransaction(request: TransactionRequest): void {
  requireIntegers(request)
  const size = sizeOfRequest(request)
  if (size > MAX_MESSAGE_BYTES) throw refuse('too_large', `a message of ${size} bytes`)
  checkOperations(request, MAX_OPERATIONS)
  collectWrites(request.success)
  collectWrites(request.failure)
  if (size > MAX_LOG_BYTES && !readsOnly(request)) throw refuse('too_large', `a transaction of ${size} bytes`)
}

/** True if the transaction has only reads, which are not written to the log. A nested transaction counts as a write. */
function readsOnly({ success, failure }: TransactionRequest): boolean {
  const reads = ({ kind }: Operation) => kind === 'range'
  return success.every(reads) && failure.every(reads)
}

export function requireInteger(value: number | undefined): void {
  if (value !== undefined && !Number.isSafeInteger(value))
    throw refuse('invalid', `${value} is not a revision, version or limit`)
}

function requireIntegers({ compares, success, failure }: TransactionRequest): void {
  for (const { value } of compares) requireInteger(value)
  for (const operations of [success, failure])
    for (const operation of operations) {
      if (operation.kind === 'transaction') requireIntegers(operation.transaction)
      if (operation.kind !== 'range') continue
      requireInteger(operation.limit)
      requireInteger(operation.revision)
    }
}

/** Rejects an empty range end, which etcd accepts but reads differently in a range request and in a transaction. */
function requireKey({ key, rangeEnd }: KeyRange | Compare): void {
  if (key === '') throw refuse('invalid', 'the key is empty')
  if (rangeEnd === '') throw refuse('invalid', 'the end of the range is empty')
}

/** Checks the number of operations. A nested transaction may use only what the outer lists leave of the limit. */
function checkOperations({ compares, success, failure }: TransactionRequest, limit: number): void {
  const width = Math.max(compares.length, success.length, failure.length)
  if (width > limit) throw refuse('invalid', `more than ${limit} operations`)
  for (const compare of compares) requireKey(compare)
  for (const operations of [success, failure])
    for (const operation of operations)
      if (operation.kind === 'transaction') checkOperations(operation.transaction, limit - width)
      else requireKey(operation)
}

/** Keys that a list of operations may write, including its nested transactions. */
interface Writes {
  readonly puts: Set<string>
  readonly deletes: ((key: string) => boolean)[]
}

/**
 * Rejects a request that could write a key twice. As in etcd, two cases are accepted: a nested put before a nested delete
 * of the same key, and any delete whose range has no end.
 */
function collectWrites(operations: readonly Operation[]): Writes {
  const writes: Writes = { puts: new Set(), deletes: [] }
  for (const operation of operations)
    if (operation.kind === 'delete') writes.deletes.push(deleteTest(operation))
  for (const operation of operations)
    if (operation.kind === 'transaction') collectNested(writes, operation.transaction)
  for (const operation of operations) if (operation.kind === 'put') addPut(writes, operation.key)
  return writes
}

function collectNested(writes: Writes, { success, failure }: TransactionRequest): void {
  const then = collectWrites(success)
  const otherwise = collectWrites(failure)
  for (const key of then.puts) addPut(writes, key)
  // Only one of the two branches of a transaction runs, so both may write the same key.
  for (const key of otherwise.puts) addPut(writes, key, then.puts.has(key))
  writes.deletes.push(...then.deletes, ...otherwise.deletes)
}

function addPut({ puts, deletes }: Writes, key: string, shared = false): void {
  if ((puts.has(key) && !shared) || deletes.some((covers) => covers(key)))
    throw refuse('invalid', `the key ${key} is written twice`)
  puts.add(key)
}

function deleteTest({ key, rangeEnd }: KeyRange): (put: string) => boolean {
  if (rangeEnd === undefined) return (put) => put === key
  const { from, to } = orderRangeOf(key, rangeEnd)
  return (put) => to !== undefined && orderOf(put) >= from && orderOf(put) < to
}
