// Encodes and decodes the messages of an exec WebSocket: one byte for the channel, then the payload. The caller opens the
// socket, because browsers and Node open sockets differently.

import {
  decodeOpen,
  type Infer,
  integer,
  object,
  optional,
  STREAM_CHANNELS,
  string,
} from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { segment } from './request.ts'

const { stdin, stdout, stderr, resize, exit } = STREAM_CHANNELS

/** The final message of an exec: the exit code of the command, or the error that prevented the command from running. */
const exitShape = object({ exitCode: optional(integer()), error: optional(string()) })

export type ExecOutput =
  | { readonly kind: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'exit' } & Infer<typeof exitShape>)

export interface WindowSize {
  readonly cols: number
  readonly rows: number
}

/** Encodes input for the command. An empty message marks the end of the input. */
export const encodeStdin = (bytes: Uint8Array): Uint8Array => frame(stdin, bytes)

export const encodeResize = ({ cols, rows }: WindowSize): Uint8Array =>
  frame(resize, new TextEncoder().encode(JSON.stringify({ cols, rows })))

/** Decodes a message of the server; undefined for unknown channels, which a newer server may use. */
export function decodeExecFrame(bytes: Uint8Array): ExecOutput | undefined {
  const payload = bytes.subarray(1)
  if (bytes[0] === stdout) return { kind: 'stdout', bytes: payload }
  if (bytes[0] === stderr) return { kind: 'stderr', bytes: payload }
  if (bytes[0] !== exit) return undefined
  return { kind: 'exit', ...decodeOpen(exitShape, JSON.parse(new TextDecoder().decode(payload))) }
}

/** The WebSocket address of an exec. Do not log this address: it contains the one-time ticket. */
export function execUrl(
  { baseUrl }: Pick<Connection, 'baseUrl'>,
  issued: { id: string; ticket: string },
): string {
  const socketBase = baseUrl.replace(/^http/, 'ws')
  return `${socketBase}/api/v1/exec/${segment(issued.id)}?ticket=${encodeURIComponent(issued.ticket)}`
}

function frame(channel: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(payload.length + 1)
  bytes[0] = channel
  bytes.set(payload, 1)
  return bytes
}
