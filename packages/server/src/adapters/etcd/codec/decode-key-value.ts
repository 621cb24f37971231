// Decodes one key with its value (mvccpb.KeyValue), and the header of etcd's responses (ResponseHeader).

import type { KeyValue } from '../../../ports/key-value.ts'
import {
  type Cursor,
  readBytes,
  readIdentity,
  readInt64,
  readMessage,
  readString,
  readTag,
  skipField,
} from './cursor.ts'

const NO_VALUE = new Uint8Array(0)

function readKeyValueFields(cursor: Cursor): KeyValue {
  let key = ''
  let value: Uint8Array = NO_VALUE
  let createRevision = 0
  let modRevision = 0
  let version = 0
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x0a) key = readString(cursor)
    else if (tag === 0x10) createRevision = readInt64(cursor)
    else if (tag === 0x18) modRevision = readInt64(cursor)
    else if (tag === 0x20) version = readInt64(cursor)
    else if (tag === 0x2a) value = readBytes(cursor)
    else skipField(cursor, tag)
  }
  return { key, value, createRevision, modRevision, version }
}

export function readKeyValue(cursor: Cursor): KeyValue {
  return readMessage(cursor, readKeyValueFields)
}

export interface Header {
  readonly revision: number
  /** Hexadecimal, as etcd's own tools print it; absent in the header of a nested transaction. */
  readonly clusterId?: string
}

function readHeaderFields(cursor: Cursor): Header {
  let revision = 0
  let clusterId: string | undefined
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x18) revision = readInt64(cursor)
    else if (tag === 0x08) clusterId = readIdentity(cursor).toString(16)
    else skipField(cursor, tag)
  }
  return clusterId === undefined ? { revision } : { revision, clusterId }
}

/** Reads a ResponseHeader. */
export function readHeader(cursor: Cursor): Header {
  return readMessage(cursor, readHeaderFields)
}
