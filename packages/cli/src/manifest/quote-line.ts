// The line that a fault stands on, with a caret under it, as a compiler shows it. What may be secret is starred out, and
// what stands in a comment is not shown at all.

import { widthOf } from '../print/fit.ts'
import { plain } from '../print/plain.ts'
import type { Span } from './locate.ts'
import type { FileText } from './parse-source.ts'

export interface Position {
  /** From 1. */
  readonly line: number
  /** From 1, in characters. */
  readonly column: number
}

export function positionOf({ text, lines }: FileText, offset: number): Position {
  const { line } = lines.linePos(offset)
  const start = lines.lineStarts[line - 1] ?? 0
  return { line, column: [...text.slice(start, offset)].length + 1 }
}

/** Two lines: the text with its number, and the caret. */
export function quoteLine(file: FileText, span: Span, hidden: readonly Span[]): string[] {
  const { text, lines } = file
  const { line } = lines.linePos(span.start)
  const start = lines.lineStarts[line - 1] ?? 0
  const whole = text.slice(start).split(/\r?\n|\r/, 1)[0] ?? ''
  const shown = withoutComment(starOut(whole, start, hidden))
  const from = span.start - start
  const marked = shown.slice(from, Math.min(span.end - start, shown.length))
  const number = String(line)
  const carets = '^'.repeat(Math.max(1, widthOf(marked.trimEnd())))
  return [
    `${number} | ${plainLine(shown)}`.trimEnd(),
    `${' '.repeat(number.length)} | ${blank(shown.slice(0, from))}${carets}`,
  ]
}

/** Spaces stay, so that the form of the line does. */
function starOut(line: string, start: number, hidden: readonly Span[]): string {
  return [...hidden].reduce((text, span) => {
    const from = Math.max(0, span.start - start)
    const to = Math.min(line.length, span.end - start)
    if (to <= 0 || from >= line.length) return text
    return text.slice(0, from) + text.slice(from, to).replace(/\S/g, '*') + text.slice(to)
  }, line)
}

/** A sharp sign begins a comment at the start of a line or behind a space, outside of quotes. */
function withoutComment(line: string): string {
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    if (quote !== '') quote = character === quote ? '' : quote
    else if ((character === '"' || character === "'") && /(?:^|[\s:[{,-])$/.test(line.slice(0, at)))
      quote = character
    else if (character === '#' && (at === 0 || /\s/.test(line[at - 1] ?? ''))) return line.slice(0, at)
  }
  return line
}

const plainLine = (line: string): string => plain(line.replaceAll('\t', '  '))

/** As wide as the text, but empty. */
const blank = (text: string): string => ' '.repeat(widthOf(plainLine(text)))
