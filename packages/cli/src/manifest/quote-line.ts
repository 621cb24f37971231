// Quotes the line of an error with a caret below, like a compiler. Possible secrets are masked and comments are omitted.

import type { FileText, Span } from '@holdfast/manifest'
import { cutTo, widthOf } from '../print/fit.ts'
import { plain } from '../print/plain.ts'

/**
 * Returns two lines: the quoted line with its number, and the caret. Of a line that does not fit, the part around the
 * caret is quoted.
 */
export function quoteLine(
  file: FileText,
  span: Span,
  hidden: readonly Span[],
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const { text, lines } = file
  const { line } = lines.linePos(span.start)
  const start = lines.lineStarts[line - 1] ?? 0
  const fullLine = text.slice(start).split(/\r?\n|\r/, 1)[0] ?? ''
  const shown = withoutComment(mask(fullLine, start, hidden))
  const from = span.start - start
  const marked = shown.slice(from, Math.min(span.end - start, shown.length))
  const number = String(line)
  const room = columns - number.length - SEPARATOR.length
  const before = lastPart(plainLine(shown.slice(0, from)), widthOf(plainLine(shown)) > room ? room / 2 : room)
  const rest = room - widthOf(before)
  const carets = '^'.repeat(Math.max(1, Math.min(rest, widthOf(marked.trimEnd()))))
  return [
    `${number}${SEPARATOR}${before}${cutTo(plainLine(shown.slice(from)), rest)}`.trimEnd(),
    `${' '.repeat(number.length)}${SEPARATOR}${' '.repeat(widthOf(before))}${carets}`,
  ]
}

const SEPARATOR = ' | '
const LEFT_OUT = '…'

/** The end of a text that fits into the columns. */
function lastPart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  const characters = [...text]
  while (characters.length > 0 && widthOf(characters.join('')) > columns - LEFT_OUT.length) characters.shift()
  return LEFT_OUT + characters.join('')
}

/** Masks possible secrets in a quoted line. Spaces are kept, so that columns stay aligned. */
function mask(line: string, start: number, hidden: readonly Span[]): string {
  return [...hidden].reduce((text, span) => {
    const from = Math.max(0, span.start - start)
    const to = Math.min(line.length, span.end - start)
    if (to <= 0 || from >= line.length) return text
    return text.slice(0, from) + text.slice(from, to).replace(/\S/g, '*') + text.slice(to)
  }, line)
}

/** Removes a YAML comment: `#` starts a comment at the beginning of a line or after a space, outside quotes. */
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
