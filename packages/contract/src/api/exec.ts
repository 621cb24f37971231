// Looking inside: what is asked to run a command in a container, and what the lines of a log read look like. DECISIONS 1, 2.

import { boolean, type Infer, integer, list, object, oneOf, optional, string } from '../shapes/shape.ts'

export const EXEC_SUBPROTOCOL = 'holdfast.exec.v1'

export const execRequestShape = object({
  command: list(string()),
  /** Absent: the first that is ready. */
  replica: optional(integer({ minimum: 1 })),
  tty: optional(boolean()),
})
export type ExecRequest = Infer<typeof execRequestShape>

/** The ticket works once, for 30 seconds, on whichever server replica: GET /exec/{id}?ticket=. */
export const issuedExecShape = object({ id: string(), ticket: string() })
export type IssuedExec = Infer<typeof issuedExecShape>

export const logEntryShape = object({
  time: string(),
  replica: integer(),
  node: string(),
  stream: oneOf(['stdout', 'stderr']),
  text: string(),
})
export type LogEntry = Infer<typeof logEntryShape>

/** What the reader was too slow for, told where it is missing. */
export const logSkipShape = object({
  skipped: object({ replica: integer(), lines: integer(), bytes: integer() }),
})
export type LogSkip = Infer<typeof logSkipShape>

/** A replica that could not be read is named: silence would look as if it had said nothing. */
export const logGapShape = object({
  unavailable: object({ replica: integer(), node: string(), reason: string() }),
})
export type LogGap = Infer<typeof logGapShape>

export type LogLine = LogEntry | LogSkip | LogGap
