// Prints tables that fit the terminal without breaking words. A table that is too wide first uses shorter texts, then
// drops its less important columns, then wraps its last column beside or below the row, and at last prints one block per
// item.

import { type Color, paint } from './color.ts'
import { widthOf, wrapWords } from './fit.ts'
import { plain } from './plain.ts'

export interface Column<T> {
  readonly header: string
  /** The column is shown only with `-o wide`. */
  readonly wide?: true
  /** On a narrow terminal the column with the lowest number is dropped first; absent: it is never dropped. */
  readonly drop?: number
  value(item: T, nowMs: number): string
  /** A shorter text for narrow terminals. */
  short?(item: T): string
  tint?(item: T): Color | undefined
}

const GAP = '  '
const NOTHING = '-'
/** Minimum width of the last column, in terminal cells, for which its text is wrapped beside the row. */
const MIN_WRAP_WIDTH = 24
/** Indentation of a last column that is printed below its row. */
const BELOW = '    '

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
  options: TableOptions,
): string[] {
  const { head, rows } = tableRows(columns, items, options)
  return [...(options.header === false ? [] : head), ...rows.flat()]
}

export interface TableRows {
  readonly head: readonly string[]
  /** The lines of each item. All are aligned with the head. */
  readonly rows: readonly (readonly string[])[]
}

export function tableRows<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  { nowMs, wide = false, columns: room = Number.POSITIVE_INFINITY, colored = false }: TableOptions,
): TableRows {
  const cellsOf = (shown: readonly Column<T>[], short: boolean): string[][] => [
    shown.map(({ header }) => paint(header, 'gray', colored)),
    ...items.map((item) =>
      shown.map((column) => {
        const text = plain((short && column.short?.(item)) || column.value(item, nowMs)) || NOTHING
        const color = column.tint?.(item)
        return color === undefined ? text : paint(text, color, colored)
      }),
    ),
  ]
  const all = columns.filter((column) => wide || column.wide !== true)
  const forms = wide
    ? [cellsOf(all, false)]
    : [cellsOf(all, false), ...narrower(all).map((shown) => cellsOf(shown, true))]
  const narrowest = forms.at(-1) ?? []
  const cells = forms.find((each) => fitsBeside(each, room)) ?? narrowest
  const isBlock = !fitsBeside(cells, room) && !fitsBelow(cells, room)
  const [head = [], ...rows] = isBlock ? blocksOf(narrowest, room) : groupRows(cells, room, true)
  return { head, rows }
}

/** The columns, and then without the one that may be dropped first, and so on. */
function narrower<T>(columns: readonly Column<T>[]): (readonly Column<T>[])[] {
  const [first] = columns
    .filter(({ drop }) => drop !== undefined)
    .sort((left, right) => (left.drop ?? 0) - (right.drop ?? 0))
  return [columns, ...(first === undefined ? [] : narrower(columns.filter((column) => column !== first)))]
}

/** One block per item, with a line per column. There is no head. */
function blocksOf([heads = [], ...items]: readonly (readonly string[])[], room: number): string[][] {
  return [
    [],
    ...items.map((item, at) => [
      ...(at === 0 ? [] : ['']),
      ...alignRows(
        item.map((cell, column) => [heads[column] ?? '', cell]),
        room,
      ),
    ]),
  ]
}

export const alignRows = (
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string[] => groupRows(rows, columns, false).flat()

function groupRows(rows: readonly (readonly string[])[], columns: number, mayBeBelow: boolean): string[][] {
  const widths = widthsOf(rows)
  const isBelow = mayBeBelow && !fitsBeside(rows, columns) && fitsBelow(rows, columns)
  return rows.map((row) => {
    const first = row
      .slice(0, -1)
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)) + GAP)
      .join('')
    const last = row.at(-1) ?? ''
    return isBelow ? [first.trimEnd(), ...hang(BELOW, last, columns)] : hang(first, last, columns)
  })
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  return widths
}

/** Width of all columns but the last, with the gap after each. */
const widthBefore = (rows: readonly (readonly string[])[]): number =>
  widthsOf(rows)
    .slice(0, -1)
    .reduce((sum, width) => sum + width + GAP.length, 0)

/** Whether the last column fits beside the others, wrapped between words if need be. */
function fitsBeside(rows: readonly (readonly string[])[], columns: number): boolean {
  const natural = widthsOf(rows).at(-1) ?? 0
  const wrapped = Math.max(MIN_WRAP_WIDTH, longestWord(rows))
  return widthBefore(rows) + Math.min(natural, wrapped) <= columns
}

const fitsBelow = (rows: readonly (readonly string[])[], columns: number): boolean =>
  widthBefore(rows) - GAP.length <= columns && longestWord(rows) + BELOW.length <= columns

const longestWord = (rows: readonly (readonly string[])[]): number =>
  Math.max(0, ...rows.flatMap((row) => (row.at(-1) ?? '').split(' ').map(widthOf)))

/** Puts a text after a label and wraps it with a hanging indent. */
export function hang(first: string, text: string, columns: number): string[] {
  const indentation = widthOf(first)
  const room = columns - indentation
  const lines = room < MIN_WRAP_WIDTH ? [text] : wrapWords(text, room)
  return lines.map((line, at) => `${at === 0 ? first : ' '.repeat(indentation)}${line}`.trimEnd())
}
