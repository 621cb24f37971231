// Reads a log that has an end.

import type { EngineStream } from '../ports/engine.ts'

/**
 * Waits for the end of a log, at most until the deadline. Returns whether the log was read to its end; lines that came
 * before a failure may still be of use.
 */
export async function readToEnd(
  open: (onEnd: (complete: boolean) => void) => Promise<EngineStream>,
  deadlineMs: number,
): Promise<boolean> {
  let onEnd = (_: boolean): void => {}
  const ended = new Promise<boolean>((resolve) => {
    onEnd = resolve
  })
  const timer = setTimeout(() => onEnd(false), deadlineMs)
  try {
    const source = await open(onEnd)
    const isComplete = await ended
    source.close()
    return isComplete
  } finally {
    clearTimeout(timer)
  }
}
