// What the server may say, decoded. What is no message throws, and ends the connection; what a newer server says beside
// the known fields is left out, and a message of a type that only it knows is undefined (DECISIONS 10).

import { decodeKnown, type ServerMessage, serverMessageShapes } from '@holdfast/contract'
import type { RawData } from 'ws'

export function readServerMessage(data: RawData): ServerMessage | undefined {
  const value: unknown = JSON.parse(String(data))
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string') throw new TypeError('a message without a type')
  const shape = Object.hasOwn(serverMessageShapes, type) ? serverMessageShapes[type] : undefined
  return shape === undefined ? undefined : (decodeKnown(shape, value) as ServerMessage)
}
