// What the server may say, decoded. Anything else throws, and ends the connection; what a newer server says beside the known
// fields is left out (DECISIONS 10).

import { decodeKnown, type ServerMessage, serverMessageShapes } from '@holdfast/contract'
import type { RawData } from 'ws'

export function readServerMessage(data: RawData): ServerMessage {
  const value: unknown = JSON.parse(String(data))
  const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : ''
  const shape = Object.hasOwn(serverMessageShapes, type) ? serverMessageShapes[type] : undefined
  if (shape === undefined) throw new TypeError(`a message of no known type: ${type.slice(0, 64)}`)
  return decodeKnown(shape, value) as ServerMessage
}
