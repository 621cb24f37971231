// Prints tables. Each column is as wide as its widest cell. The last column is not padded, and its cells wrap within the
// column if the terminal is too narrow.

import { type Color, paint } from './color.ts'
import { widthOf, wrapWords } from './fit.ts'
import { plain } from './plain.ts'

export interface Column<T> {
  readonly header: string
  /** The column is shown only with `-o wide`. */
  readonly wide?: true
  value(item: T, nowMs: number): string
  tint?(item: T): Color | undefined
}

const GAP = '  '
const NOTHING = '-'
/** Minimum width of the last column, in terminal cells, for which its text is wrapped. */
const MIN_WRAP_WIDTH = 24

export interface TableOptions {
  readonly nowMs: number
  readonly wide?: boolean
  readonly header?: boolean
  /** Width of the terminal in cells; absent: unlimited. */
  readonly columns?: number
  readonly colored?: boolean
}

/** Returns the table as lines without line breaks. */
export function tableLines<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  { nowMs, wide = false, header = true, columns: room, colored = false }: TableOptions,
): string[] {
  const shown = columns.filter((column) => wide || column.wide !== true)
  const cells = items.map((item) =>
    shown.map((column) => {
      const color = column.tint?.(item)
      const text = plain(column.value(item, nowMs)) || NOTHING
      return color === undefined ? text : paint(text, color, colored)
    }),
  )
  const heads = shown.map((column) => paint(column.header, 'gray', colored))
  return alignRows(header ? [heads, ...cells] : cells, room)
}

export function alignRows(
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  return rows.flatMap((row) => {
    const first = row
      .slice(0, -1)
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)) + GAP)
      .join('')
    return hang(first, row.at(-1) ?? '', columns)
  })
}

/** Puts a text after a label and wraps it with a hanging indent. */
export function hang(first: string, text: string, columns: number): string[] {
  const indentation = widthOf(first)
  const room = columns - indentation
  const lines = room < MIN_WRAP_WIDTH ? [text] : wrapWords(text, room)
  return lines.map((line, at) => `${at === 0 ? first : ' '.repeat(indentation)}${line}`.trimEnd())
}
