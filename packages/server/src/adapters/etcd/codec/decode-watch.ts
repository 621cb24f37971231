// Decodes one message of a watch stream (etcdserverpb.WatchResponse).

import type { KeyValue, WatchEvent } from '../../../ports/key-value.ts'
import {
  type Cursor,
  cursorOver,
  readBool,
  readInt64,
  readMessage,
  readString,
  readTag,
  skipField,
} from './cursor.ts'
import { readHeader, readKeyValue } from './decode-key-value.ts'

export interface WatchMessage {
  revision: number
  /** Id of the watch that the message is about; -1 in the response to a progress request and for a rejected watch. */
  watchId: number
  created: boolean
  canceled: boolean
  compactRevision: number
  cancelReason: string
  /** True if etcd split the message and another fragment follows; `events` may then end in the middle of a revision. */
  fragment: boolean
  readonly events: WatchEvent[]
}

const NO_KEY_VALUE: KeyValue = {
  key: '',
  value: new Uint8Array(0),
  createRevision: 0,
  modRevision: 0,
  version: 0,
}

function readEventFields(cursor: Cursor): WatchEvent {
  let kind: WatchEvent['kind'] = 'put'
  let kv = NO_KEY_VALUE
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x08) kind = readInt64(cursor) === 1 ? 'delete' : 'put'
    else if (tag === 0x12) kv = readKeyValue(cursor)
    else skipField(cursor, tag)
  }
  return { kind, kv }
}

export function decodeWatchMessage(bytes: Buffer): WatchMessage {
  const cursor = cursorOver(bytes)
  const message: WatchMessage = {
    revision: 0,
    watchId: 0,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events: [],
  }
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x5a) message.events.push(readMessage(cursor, readEventFields))
    else readWatchField(cursor, tag, message)
  }
  return message
}

function readWatchField(cursor: Cursor, tag: number, message: WatchMessage): void {
  if (tag === 0x0a) message.revision = readHeader(cursor).revision
  else if (tag === 0x10) message.watchId = readInt64(cursor)
  else if (tag === 0x18) message.created = readBool(cursor)
  else if (tag === 0x20) message.canceled = readBool(cursor)
  else if (tag === 0x28) message.compactRevision = readInt64(cursor)
  else if (tag === 0x32) message.cancelReason = readString(cursor)
  else if (tag === 0x38) message.fragment = readBool(cursor)
  else skipField(cursor, tag)
}
