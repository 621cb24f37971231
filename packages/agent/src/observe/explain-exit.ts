// Explains the exit of a run whose program could not be executed. The runtime reports that only as the last line of the
// container's log, which is complete when the engine reports the exit.

import { setTimeout as pause } from 'node:timers/promises'
import { explainRuntimeLine, mayBeRefused, type RunEnd } from '@holdfast/core/node'
import type { Engine, OutputChannel } from '../ports/engine.ts'
import { readToEnd } from '../streams/read-to-end.ts'

/**
 * Longest time to read the line from the engine of a busy machine. The exit is reported after it, so a slow engine must not
 * hold the report for long.
 */
const READ_MS = 10_000

/** Returns undefined if the program was executed, or the log cannot be read. */
export async function explainExit(
  engine: Pick<Engine, 'readLogs'>,
  containerId: string,
  end: RunEnd,
): Promise<string | undefined> {
  if (!mayBeRefused(end)) return undefined
  let line = ''
  const entry = (_: OutputChannel, raw: Buffer): void => {
    line = raw.toString('utf8')
  }
  const open = (end: (complete: boolean) => void) =>
    engine.readLogs(containerId, { follow: false, tail: 1 }, { entry, end })
  // The exit is reported without an explanation if the engine does not answer.
  const read = readToEnd(open, READ_MS).catch(() => {})
  await Promise.race([read, pause(READ_MS, undefined, { ref: false })])
  return explainRuntimeLine(line, process.arch)
}
