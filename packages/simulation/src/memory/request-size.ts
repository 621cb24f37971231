// The size of a transaction in bytes as etcd measures it: the protobuf encoding of the log entry.

import type {
  Compare,
  KeyRange,
  Operation,
  RangeRequest,
  TransactionRequest,
} from '@holdfast/server/ports/key-value'

/** Bytes that etcd adds to each request in its log: the request number and the frame. */
const ENVELOPE_BYTES = 14

/** Size of a transaction with the overhead of its log entry. */
export function sizeOfRequest(request: TransactionRequest): number {
  return ENVELOPE_BYTES + sizeOfField(sizeOfTransaction(request))
}

function sizeOfTransaction({ compares, success, failure }: TransactionRequest): number {
  let size = 0
  for (const compare of compares) size += sizeOfField(sizeOfCompare(compare))
  for (const operation of success) size += sizeOfField(sizeOfField(sizeOfOperation(operation)))
  for (const operation of failure) size += sizeOfField(sizeOfField(sizeOfOperation(operation)))
  return size
}

function sizeOfCompare({ key, rangeEnd, target, is, value }: Compare): number {
  const words = (is === 'equal' ? 0 : 2) + (target === 'version' ? 0 : 2)
  const end = rangeEnd === undefined ? 0 : 1 + sizeOfText(rangeEnd)
  return words + sizeOfText(key) + 1 + sizeOfVarint(value) + end
}

function sizeOfOperation(operation: Operation): number {
  switch (operation.kind) {
    case 'put':
      return (
        sizeOfText(operation.key) + (operation.value.length === 0 ? 0 : sizeOfField(operation.value.length))
      )
    case 'delete':
      return sizeOfKeyRange(operation)
    case 'range':
      return sizeOfRange(operation)
    case 'transaction':
      return sizeOfTransaction(operation.transaction)
  }
}

function sizeOfRange(request: RangeRequest): number {
  const { limit = 0, revision = 0, serializable, keysOnly, countOnly } = request
  const numbers = [limit, revision].reduce((sum, one) => sum + (one === 0 ? 0 : 1 + sizeOfVarint(one)), 0)
  const flags = [serializable, keysOnly, countOnly].filter((flag) => flag === true).length
  return sizeOfKeyRange(request) + numbers + 2 * flags
}

const sizeOfKeyRange = ({ key, rangeEnd }: KeyRange): number =>
  sizeOfText(key) + (rangeEnd === undefined ? 0 : sizeOfText(rangeEnd))

const sizeOfText = (text: string): number => sizeOfField(Buffer.byteLength(text))

/** Size of a protobuf field: a tag of one byte, the length, and the bytes. */
const sizeOfField = (length: number): number => 1 + sizeOfVarint(length) + length

function sizeOfVarint(value: number): number {
  if (value < 0) return 10
  let size = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1
  return size
}
