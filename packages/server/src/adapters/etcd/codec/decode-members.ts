// Decodes etcd's MemberListResponse.

import type { EtcdMember } from '../../../ports/etcd-members.ts'
import {
  type Cursor,
  cursorOver,
  readBool,
  readIdentity,
  readMessage,
  readString,
  readTag,
  skipField,
} from './cursor.ts'

export function decodeMemberListResponse(bytes: Buffer): readonly EtcdMember[] {
  const cursor = cursorOver(bytes)
  const members: EtcdMember[] = []
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x12) members.push(readMessage(cursor, readMember))
    else skipField(cursor, tag)
  }
  return members
}

function readMember(cursor: Cursor): EtcdMember {
  const [peerUrls, clientUrls]: [string[], string[]] = [[], []]
  let id = 0n
  let name = ''
  let isLearner = false
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor)
    if (tag === 0x08) id = readIdentity(cursor)
    else if (tag === 0x12) name = readString(cursor)
    else if (tag === 0x1a) peerUrls.push(readString(cursor))
    else if (tag === 0x22) clientUrls.push(readString(cursor))
    else if (tag === 0x28) isLearner = readBool(cursor)
    else skipField(cursor, tag)
  }
  return { id, name, peerUrls, clientUrls, isLearner }
}
