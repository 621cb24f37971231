// Decodes etcd's AlarmResponse.

import {
  type Cursor,
  cursorOver,
  readIdentity,
  readInt64,
  readMessage,
  readTag,
  skipField,
} from '../codec/cursor.ts'

const NO_SPACE = 1

/** Returns the ids of the members that raised NOSPACE. */
export function decodeNoSpaceMembers(bytes: Buffer): readonly bigint[] {
  const cursor = cursorOver(bytes)
  const members: bigint[] = []
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag !== 0x12) skipField(cursor, tag)
    else {
      const { id, alarm } = readMessage(cursor, readAlarm)
      if (alarm === NO_SPACE) members.push(id)
    }
  }
  return members
}

function readAlarm(cursor: Cursor): { id: bigint; alarm: number } {
  let id = 0n
  let alarm = 0
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x08) id = readIdentity(cursor)
    else if (tag === 0x10) alarm = readInt64(cursor)
    else skipField(cursor, tag)
  }
  return { id, alarm }
}
