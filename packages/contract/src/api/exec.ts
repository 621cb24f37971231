// Exec requests and the lines of a log stream.

import {
  boolean,
  field,
  type Infer,
  integer,
  list,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { execTexts } from '../texts/request-texts.ts'

export const EXEC_SUBPROTOCOL = 'holdfast.exec.v1'

export const execRequestShape = object({
  command: field(execTexts.command, list(string())),
  replica: field(execTexts.replica, optional(integer({ minimum: 1 }))),
  canary: field(execTexts.canary, optional(boolean())),
  tty: field(execTexts.tty, optional(boolean())),
})
export type ExecRequest = Infer<typeof execRequestShape>

/** An exec ticket can be used once, within 30 seconds, on any server replica: GET /exec/{id}?ticket=. */
export const issuedExecShape = object({ id: string(), ticket: string() })
export type IssuedExec = Infer<typeof issuedExecShape>

/** True if the replica belongs to a canary, beside the replica of the same number; absent for the others. */
const canary = optional(boolean())

export const logEntryShape = object({
  time: string(),
  replica: integer(),
  canary,
  node: string(),
  stream: oneOf(['stdout', 'stderr']),
  text: string(),
})
export type LogEntry = Infer<typeof logEntryShape>

/** An item of a log stream that replaces lines dropped because the reader was too slow. */
export const logSkipShape = object({
  skipped: object({ replica: integer(), canary, lines: integer(), bytes: integer() }),
})
export type LogSkip = Infer<typeof logSkipShape>

/** Log stream item for a replica whose log could not be read; without it, the replica would seem to have no log lines. */
export const logGapShape = object({
  unavailable: object({ replica: integer(), canary, node: string(), reason: string() }),
})
export type LogGap = Infer<typeof logGapShape>

export type LogLine = LogEntry | LogSkip | LogGap
