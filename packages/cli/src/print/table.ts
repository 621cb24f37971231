// Rows under headers, each column as wide as its widest cell. The last one is never padded, so lines end where they end.

import { plain } from './plain.ts'

export interface Column<T> {
  readonly header: string
  /** Shown by `-o wide` alone. */
  readonly wide?: true
  value(item: T, nowMs: number): string
}

const GAP = '  '
const NOTHING = '-'

export interface TableOptions {
  readonly nowMs: number
  readonly wide?: boolean
  readonly header?: boolean
}

/** Lines without their breaks. */
export function tableLines<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  { nowMs, wide = false, header = true }: TableOptions,
): string[] {
  const shown = columns.filter((column) => wide || column.wide !== true)
  const cells = items.map((item) => shown.map((column) => plain(column.value(item, nowMs)) || NOTHING))
  const rows = header ? [shown.map((column) => column.header), ...cells] : cells
  return alignRows(rows)
}

export function alignRows(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  return rows.map((row) =>
    row
      .map((cell, at) =>
        at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)),
      )
      .join(GAP)
      .trimEnd(),
  )
}

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Extended_Pictographic}/u
const COMBINING = /\p{Mark}/u

/** In terminal cells. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
