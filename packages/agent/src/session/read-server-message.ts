// Decodes a message of the server. An invalid message throws an error, which ends the connection. Unknown members from a
// newer server are kept, and an unknown message type yields undefined.

import { decodeOpen, type ServerMessage, serverMessageShapes } from '@holdfast/contract'
import type { RawData } from 'ws'

export function readServerMessage(data: RawData): ServerMessage | undefined {
  const value: unknown = JSON.parse(String(data))
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string') throw new TypeError('a message without a type')
  const shape = Object.hasOwn(serverMessageShapes, type) ? serverMessageShapes[type] : undefined
  return shape === undefined ? undefined : (decodeOpen(shape, value) as ServerMessage)
}
