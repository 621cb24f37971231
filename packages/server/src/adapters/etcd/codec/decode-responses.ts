// Decodes etcd's unary responses: RangeResponse, TxnResponse, StatusResponse, AuthenticateResponse.

import type { KeyValue, OperationResult, RangeResult, TransactionResult } from '../../../ports/key-value.ts'
import {
  type Cursor,
  cursorOver,
  readBool,
  readIdentity,
  readInt64,
  readMessage,
  readString,
  readTag,
  skipField,
} from './cursor.ts'
import { type Header, readHeader, readKeyValue } from './decode-key-value.ts'

const NO_HEADER: Header = { revision: 0 }

export function decodeRangeResponse(bytes: Buffer): RangeResult {
  return readRangeFields(cursorOver(bytes))
}

function readRangeFields(cursor: Cursor): RangeResult {
  const kvs: KeyValue[] = []
  let more = false
  let count = 0
  let header: Header = NO_HEADER
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x12) kvs.push(readKeyValue(cursor))
    else if (tag === 0x0a) header = readHeader(cursor)
    else if (tag === 0x18) more = readBool(cursor)
    else if (tag === 0x20) count = readInt64(cursor)
    else skipField(cursor, tag)
  }
  return { kvs, more, count, ...header }
}

export function decodeTransactionResponse(bytes: Buffer): TransactionResult {
  return withRevision(readTransactionFields(cursorOver(bytes)))
}

function readTransactionFields(cursor: Cursor): TransactionResult {
  const results: OperationResult[] = []
  let succeeded = false
  let header: Header = NO_HEADER
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x0a) header = readHeader(cursor)
    else if (tag === 0x10) succeeded = readBool(cursor)
    else if (tag === 0x1a) results.push(readMessage(cursor, readOperationFields))
    else skipField(cursor, tag)
  }
  return { succeeded, ...header, results }
}

/** etcd sets the revision only in the outermost transaction, so the nested transactions get a copy of that revision. */
function withRevision(outer: TransactionResult): TransactionResult {
  if (!outer.results.some((result) => result.kind === 'transaction')) return outer
  const results = outer.results.map((result) =>
    result.kind === 'transaction'
      ? { ...result, transaction: withRevision({ ...result.transaction, revision: outer.revision }) }
      : result,
  )
  return { ...outer, results }
}

function readOperationFields(cursor: Cursor): OperationResult {
  let result: OperationResult = { kind: 'put' }
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x0a) result = { kind: 'range', range: readMessage(cursor, readRangeFields) }
    else if (tag === 0x1a) result = { kind: 'delete', deleted: readMessage(cursor, readDeletedField) }
    else if (tag === 0x22)
      result = { kind: 'transaction', transaction: readMessage(cursor, readTransactionFields) }
    else skipField(cursor, tag)
  }
  return result
}

function readDeletedField(cursor: Cursor): number {
  let deleted = 0
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x10) deleted = readInt64(cursor)
    else skipField(cursor, tag)
  }
  return deleted
}

export interface MemberStatus {
  revision: number
  memberId: bigint
  leaderId: bigint
  dbSizeBytes: number
  dbSizeInUseBytes: number
  /** Alarms and errors of the etcd member, in etcd's wording. */
  readonly errors: string[]
}

export function decodeStatusResponse(bytes: Buffer): MemberStatus {
  const cursor = cursorOver(bytes)
  const status: MemberStatus = {
    revision: 0,
    memberId: 0n,
    leaderId: 0n,
    dbSizeBytes: 0,
    dbSizeInUseBytes: 0,
    errors: [],
  }
  while (cursor.pos < cursor.end) readStatusField(cursor, readTag(cursor), status)
  return status
}

function readStatusField(cursor: Cursor, tag: number, status: MemberStatus): void {
  if (tag === 0x0a) readMessage(cursor, (header) => readStatusHeader(header, status))
  else if (tag === 0x18) status.dbSizeBytes = readInt64(cursor)
  else if (tag === 0x20) status.leaderId = readIdentity(cursor)
  else if (tag === 0x42) status.errors.push(readString(cursor))
  else if (tag === 0x48) status.dbSizeInUseBytes = readInt64(cursor)
  else skipField(cursor, tag)
}

function readStatusHeader(cursor: Cursor, status: MemberStatus): void {
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x10) status.memberId = readIdentity(cursor)
    else if (tag === 0x18) status.revision = readInt64(cursor)
    else skipField(cursor, tag)
  }
}

/** Returns the auth token for later calls. */
export function decodeAuthenticateResponse(bytes: Buffer): string {
  const cursor = cursorOver(bytes)
  let token = ''
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x12) token = readString(cursor)
    else skipField(cursor, tag)
  }
  return token
}
