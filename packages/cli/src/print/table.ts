// Rows under headers, each column as wide as its widest cell. The last one is never padded, so lines end where they end,
// and goes on under itself where the terminal is too narrow for it.

import { type Color, paint } from './color.ts'
import { widthOf, wrapWords } from './fit.ts'
import { plain } from './plain.ts'

export interface Column<T> {
  readonly header: string
  /** Shown by `-o wide` alone. */
  readonly wide?: true
  value(item: T, nowMs: number): string
  tint?(item: T): Color | undefined
}

const GAP = '  '
const NOTHING = '-'
/** A last column that is narrower is not worth breaking. */
const NARROWEST = 24

export interface TableOptions {
  readonly nowMs: number
  readonly wide?: boolean
  readonly header?: boolean
  /** Absent: as wide as it comes, in one colour. */
  readonly columns?: number
  readonly colored?: boolean
}

/** Lines without their breaks. */
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

/** A text behind another one, and under itself where it is too long. */
export function hang(first: string, text: string, columns: number): string[] {
  const taken = widthOf(first)
  const lines = columns - taken < NARROWEST ? [text] : wrapWords(text, columns - taken)
  return lines.map((line, at) => `${at === 0 ? first : ' '.repeat(taken)}${line}`.trimEnd())
}
