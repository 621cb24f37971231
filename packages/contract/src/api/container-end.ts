// How a container's run ended and why a container fails: what an agent reports, and the bounds that keep records small.
// Log lines are never part of it.

import { utf8Length } from '../json/strict-json-utf8.ts'
import { boolean, type Infer, integer, object, optional, string } from '../shapes/shape.ts'

/** How a run of a container ended. */
export const lastExitShape = object({
  /** The exit code that the engine reports: 0 to 255. */
  code: integer(),
  /** The signal that ended the process, for example `SIGKILL`; absent if the process ended without one. */
  signal: optional(string()),
  /** True if the kernel killed a process of the container because memory ran out. */
  oomKilled: optional(boolean()),
  /** With `oomKilled`: the container's memory limit; absent if the container has none. */
  oomLimitBytes: optional(integer()),
  at: string(),
})
export type LastExit = Infer<typeof lastExitShape>

/** The longest cause in an observation. */
export const MAX_CAUSE_BYTES = 1024

const CUT_MARK = '...'
/** Control characters, line separators, and invisible characters that could reorder or hide text on a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Makes a cause of any text: one line without control characters, cut at a character boundary. */
export function cleanCause(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim()
  if (utf8Length(line) <= MAX_CAUSE_BYTES) return line
  let bytes = CUT_MARK.length
  let kept = ''
  for (const character of line) {
    bytes += utf8Length(character)
    if (bytes > MAX_CAUSE_BYTES) break
    kept += character
  }
  return kept + CUT_MARK
}

/** Whether a server accepts a cause. */
export const isCause = (text: string): boolean =>
  text.length <= MAX_CAUSE_BYTES && utf8Length(text) <= MAX_CAUSE_BYTES && !UNPRINTABLE.test(text)
