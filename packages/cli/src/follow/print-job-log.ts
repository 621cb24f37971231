// Prints the items of a job's log. Lines that are missing, and the reason, go to stderr.

import type { LogStreamItem } from '@holdfast/client'
import type { LogEntry } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { count } from '../print/count.ts'
import { printFailure } from '../print/failure.ts'
import { plain, plainLines } from '../print/plain.ts'
import { report, type Terminal } from '../terminal/terminal.ts'

export interface JobLogPrinter {
  readonly terminal: Terminal
  printLine(line: LogEntry): void
}

/** Prints all items and returns the exit code of the last failure. */
export async function printJobLog(
  { terminal, printLine }: JobLogPrinter,
  items: AsyncIterable<LogStreamItem>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  for await (const item of items) {
    if (item.kind === 'failed') exitCode = printFailure(terminal, item.failure)
    else if ('skipped' in item.line) {
      const { lines } = item.line.skipped
      report(terminal, count(lines, 'line of the log was skipped', 'lines of the log were skipped'))
    } else if ('unavailable' in item.line) {
      const { node, reason } = item.line.unavailable
      report(terminal, plain(`the log on ${node} cannot be read: ${reason}`))
    } else printLine(item.line)
  }
  return exitCode
}

/** Prints a line as the container wrote it: stdout to stdout and stderr to stderr. */
export const forwardLine =
  (terminal: Terminal) =>
  ({ stream, text }: LogEntry): void => {
    const isTerminal = stream === 'stdout' ? terminal.outIsTerminal : terminal.errIsTerminal
    const line = `${isTerminal ? plainLines(text) : text}\n`
    if (stream === 'stdout') terminal.out(line)
    else terminal.err(line)
  }
