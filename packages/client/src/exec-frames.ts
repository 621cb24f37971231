// What travels on the socket of an exec: one byte that says what it is, then the rest. The socket itself is the caller's: a
// browser and Node open them differently. DECISIONS 1.

import {
  decodeKnown,
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

/** How the command ended, or why nobody knows. */
const exitShape = object({ exitCode: optional(integer()), error: optional(string()) })

export type ExecOutput =
  | { readonly kind: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'exit' } & Infer<typeof exitShape>)

export interface WindowSize {
  readonly cols: number
  readonly rows: number
}

/** Of nothing: the end of the input. */
export const encodeStdin = (bytes: Uint8Array): Uint8Array => frame(stdin, bytes)

export const encodeResize = ({ cols, rows }: WindowSize): Uint8Array =>
  frame(resize, new TextEncoder().encode(JSON.stringify({ cols, rows })))

/** Undefined for what a newer server may say. */
export function decodeExecFrame(bytes: Uint8Array): ExecOutput | undefined {
  const rest = bytes.subarray(1)
  if (bytes[0] === stdout) return { kind: 'stdout', bytes: rest }
  if (bytes[0] === stderr) return { kind: 'stderr', bytes: rest }
  if (bytes[0] !== exit) return undefined
  return { kind: 'exit', ...decodeKnown(exitShape, JSON.parse(new TextDecoder().decode(rest))) }
}

/** The address holds the ticket, which works once: it is not to be shown. */
export function execUrl(
  { baseUrl }: Pick<Connection, 'baseUrl'>,
  issued: { id: string; ticket: string },
): string {
  const socketBase = baseUrl.replace(/^http/, 'ws')
  return `${socketBase}/api/v1/exec/${segment(issued.id)}?ticket=${encodeURIComponent(issued.ticket)}`
}

function frame(kind: number, rest: Uint8Array): Uint8Array {
  const whole = new Uint8Array(rest.length + 1)
  whole[0] = kind
  whole.set(rest, 1)
  return whole
}
