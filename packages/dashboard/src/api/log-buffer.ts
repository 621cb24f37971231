// The lines of a log that a page shows, the newest at the end. At most 10,000 are kept, so that a page that stays open for
// days needs no more memory.

import type { LogLine } from '@holdfast/contract'

export interface KeptLine {
  /** Counts up; the identity of the line on the page. */
  readonly id: number
  readonly line: LogLine
}

export interface LogBuffer {
  readonly lines: readonly KeptLine[]
  /** The id of the next line. */
  readonly next: number
  /** How many lines were dropped from the beginning. */
  readonly dropped: number
}

export const MOST_LINES = 10_000
export const EMPTY_LOG: LogBuffer = { lines: [], next: 0, dropped: 0 }

/**
 * Adds lines that arrived. A stream that resumes at the time of the last line sends the lines of that time again; these are
 * left out.
 */
export function appendLines(buffer: LogBuffer, arrived: readonly LogLine[]): LogBuffer {
  const known = textsOfLastTime(buffer.lines)
  const fresh = arrived.filter((line) => !known.has(JSON.stringify(line)))
  if (fresh.length === 0) return buffer
  const added = fresh.map((line, at) => ({ id: buffer.next + at, line }))
  const lines = [...buffer.lines, ...added]
  const excess = Math.max(0, lines.length - MOST_LINES)
  return { lines: lines.slice(excess), next: buffer.next + fresh.length, dropped: buffer.dropped + excess }
}

/** The time of the newest line, from which a stream resumes; undefined if no line has one. */
export function lastTimeOf({ lines }: LogBuffer): string | undefined {
  const last = lines.findLast(({ line }) => 'time' in line)?.line
  return last !== undefined && 'time' in last ? last.time : undefined
}

function textsOfLastTime(lines: readonly KeptLine[]): ReadonlySet<string> {
  const time = lastTimeOf({ lines, next: 0, dropped: 0 })
  const texts = new Set<string>()
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at]?.line
    if (line === undefined || ('time' in line && line.time !== time)) break
    texts.add(JSON.stringify(line))
  }
  return texts
}

/** The lines that contain the text, ignoring case; notes about missing lines are always kept. */
export function matchingLines(lines: readonly KeptLine[], q: string): readonly KeptLine[] {
  if (q === '') return lines
  const wanted = q.toLowerCase()
  return lines.filter(({ line }) => !('text' in line) || line.text.toLowerCase().includes(wanted))
}
