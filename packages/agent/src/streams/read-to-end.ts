// Reads a log that has an end.

import type { EngineStream } from '../ports/engine.ts'

/** Waits for the end of a log, at most until the deadline. Lines that came before a failure are still of use. */
export async function readToEnd(
  open: (onEnd: () => void) => Promise<EngineStream>,
  deadlineMs: number,
): Promise<void> {
  let onEnd = (): void => {}
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve
  })
  const timer = setTimeout(onEnd, deadlineMs)
  try {
    const source = await open(onEnd)
    await ended
    source.close()
  } finally {
    clearTimeout(timer)
  }
}
