// Encodes requests for etcd: RangeRequest, TxnRequest, CompactionRequest, WatchRequest, AuthenticateRequest and those of its
// members. Values are copied, so the caller may reuse its buffers.

import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type {
  Compare,
  KeyRange,
  Operation,
  RangeRequest,
  TransactionRequest,
} from '../../../ports/key-value.ts'

const COMPARE_RESULT = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const
const COMPARE_TARGET = { version: 0, createRevision: 1, modRevision: 2 } as const
/** Tag of the protobuf field that has the operand of a comparison: `version`, `create_revision`, `mod_revision`. */
const COMPARE_OPERAND_TAG = { version: 0x20, createRevision: 0x28, modRevision: 0x30 } as const

function writeInt64(writer: BinaryWriter, tag: number, value: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a revision, version or limit`)
  writer.uint32(tag)
  if (value >= 0 && value <= 0xffffffff) writer.uint32(value)
  else writer.int64(value)
}

function writeFlag(writer: BinaryWriter, tag: number, value: boolean | undefined): void {
  if (value) writer.uint32(tag).bool(true)
}

/** Writes a key range: `key` is field 1 and `range_end` field 2 of every request that has both, except Compare. */
function writeKeyRange(writer: BinaryWriter, range: KeyRange): void {
  writer.uint32(0x0a).string(range.key)
  if (range.rangeEnd !== undefined) writer.uint32(0x12).string(range.rangeEnd)
}

function writeRange(writer: BinaryWriter, request: RangeRequest): void {
  writeKeyRange(writer, request)
  if (request.limit !== undefined) writeInt64(writer, 0x18, request.limit)
  if (request.revision !== undefined) writeInt64(writer, 0x20, request.revision)
  writeFlag(writer, 0x38, request.serializable)
  writeFlag(writer, 0x40, request.keysOnly)
  writeFlag(writer, 0x48, request.countOnly)
}

function writeCompare(writer: BinaryWriter, compare: Compare): void {
  writer.uint32(0x08).uint32(COMPARE_RESULT[compare.is])
  writer.uint32(0x10).uint32(COMPARE_TARGET[compare.target])
  writer.uint32(0x1a).string(compare.key)
  writeInt64(writer, COMPARE_OPERAND_TAG[compare.target], compare.value)
  if (compare.rangeEnd !== undefined) writer.tag(64, 2).string(compare.rangeEnd)
}

function writeOperation(writer: BinaryWriter, operation: Operation): void {
  switch (operation.kind) {
    case 'range':
      writer.uint32(0x0a).fork()
      writeRange(writer, operation)
      break
    case 'put':
      writer.uint32(0x12).fork()
      writer.uint32(0x0a).string(operation.key).uint32(0x12).bytes(operation.value)
      break
    case 'delete':
      writer.uint32(0x1a).fork()
      writeKeyRange(writer, operation)
      break
    case 'transaction':
      writer.uint32(0x22).fork()
      writeTransaction(writer, operation.transaction)
      break
  }
  writer.join()
}

function writeTransaction(writer: BinaryWriter, request: TransactionRequest): void {
  for (const compare of request.compares) {
    writer.uint32(0x0a).fork()
    writeCompare(writer, compare)
    writer.join()
  }
  writeOperations(writer, 0x12, request.success)
  writeOperations(writer, 0x1a, request.failure)
}

function writeOperations(writer: BinaryWriter, tag: number, operations: readonly Operation[]): void {
  for (const operation of operations) {
    writer.uint32(tag).fork()
    writeOperation(writer, operation)
    writer.join()
  }
}

/** The protobuf writer of all requests. Reuse avoids growing a new buffer for each request; `finish` copies the bytes. */
let sharedWriter = new BinaryWriter()

function encode(write: (writer: BinaryWriter) => void): Buffer {
  try {
    write(sharedWriter)
  } catch (error) {
    // After an error the writer contains half a message, so a new writer replaces it.
    sharedWriter = new BinaryWriter()
    throw error
  }
  const bytes = sharedWriter.finish()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function encodeRangeRequest(request: RangeRequest): Buffer {
  return encode((writer) => writeRange(writer, request))
}

export function encodeTransactionRequest(request: TransactionRequest): Buffer {
  return encode((writer) => writeTransaction(writer, request))
}

export function encodeCompactionRequest(revision: number, physical: boolean): Buffer {
  return encode((writer) => {
    writeInt64(writer, 0x08, revision)
    writeFlag(writer, 0x10, physical)
  })
}

export function encodeAuthenticateRequest(username: string, password: string): Buffer {
  return encode((writer) => writer.uint32(0x0a).string(username).uint32(0x12).string(password))
}

/** Encodes a watch request. It asks etcd to split large messages and to report progress, but not for previous values. */
export function encodeWatchCreateRequest(range: KeyRange, startRevision: number): Buffer {
  return encode((writer) => {
    writer.uint32(0x0a).fork()
    writeKeyRange(writer, range)
    writeInt64(writer, 0x18, startRevision)
    writeFlag(writer, 0x20, true)
    writeFlag(writer, 0x40, true)
    writer.join()
  })
}

export function encodeWatchProgressRequest(): Buffer {
  return encode((writer) => writer.uint32(0x1a).fork().join())
}

/** Asks for the members as the majority knows them. */
export function encodeMemberListRequest(): Buffer {
  return encode((writer) => writeFlag(writer, 0x08, true))
}

export function encodeMemberAddRequest(peerUrl: string): Buffer {
  return encode((writer) => writeFlag(writer.uint32(0x0a).string(peerUrl), 0x10, true))
}

export function encodeMemberUpdateRequest(id: bigint, peerUrl: string): Buffer {
  return encode((writer) => writer.uint32(0x08).uint64(id).uint32(0x12).string(peerUrl))
}

export function encodeMemberPromoteRequest(id: bigint): Buffer {
  return encode((writer) => writer.uint32(0x08).uint64(id))
}

/** Asks for the alarms of all members. */
export function encodeAlarmListRequest(): Buffer {
  return encode(() => {})
}

/** Clears the alarm NOSPACE of one member: the action DEACTIVATE and the alarm NOSPACE of etcd's AlarmRequest. */
export function encodeClearNoSpaceRequest(memberId: bigint): Buffer {
  return encode((writer) =>
    writer.uint32(0x08).uint32(2).uint32(0x10).uint64(memberId).uint32(0x18).uint32(1),
  )
}
