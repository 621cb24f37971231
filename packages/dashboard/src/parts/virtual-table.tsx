// A table of which only the rows near the view are in the document; the whole page scrolls. Two empty rows take the place of
// those above and below. On a phone each row becomes a card of two lines.

import { memo, type ReactNode, useEffect, useRef } from 'react'
import { useNarrow } from './use-narrow.ts'
import { useRowsInView } from './use-rows-in-view.ts'
import styles from './virtual-table.module.css'

export interface Column<T> {
  readonly title: string
  /** Width as in CSS; absent: an equal share of the rest. */
  readonly width?: string
  /** The place of the cell in the card of a phone. */
  readonly narrow: 'start' | 'end' | 'below' | 'below-end' | 'hidden'
  /** True if the card of a phone shows the title before the cell, because the cell alone would be unclear. */
  readonly labelled?: boolean
  cell(item: T): ReactNode
  /** The whole text of a cell that may be cut off. */
  hint?(item: T): string
}

interface Props<T> {
  readonly columns: readonly Column<T>[]
  readonly items: readonly T[]
  keyOf(item: T): string
  readonly hasMore: boolean
  /** The last row is near. */
  onEnd(): void
}

const ROW_PX = 38
const NARROW_ROW_PX = 62
/** More rows are read when the last one is this near. */
const NEAR_ROWS = 20

export function VirtualTable<T>({ columns, items, keyOf, hasMore, onEnd }: Props<T>) {
  const table = useRef<HTMLTableElement>(null)
  const height = useNarrow() ? NARROW_ROW_PX : ROW_PX
  const inView = useRowsInView(table, height)
  // A list that became shorter is scrolled back by the browser, one frame later.
  const first = Math.min(inView.first, items.length - 1)
  const last = Math.min(items.length, first + inView.count) - 1
  useEffect(() => {
    if (hasMore && last >= items.length - NEAR_ROWS) onEnd()
  }, [hasMore, last, items.length, onEnd])
  return (
    <table ref={table} className={styles.table} aria-rowcount={hasMore ? -1 : items.length + 1}>
      <colgroup>
        {columns.map(({ title, width }) => (
          <col key={title} {...(width === undefined ? {} : { style: { width } })} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Gap columns={columns.length} height={first * height} />
        {items.slice(first, last + 1).map((item, at) => (
          <Row key={keyOf(item)} columns={columns} item={item} index={first + at} height={height} />
        ))}
        <Gap columns={columns.length} height={(items.length - last - 1) * height} />
      </tbody>
    </table>
  )
}

interface RowProps<T> {
  readonly columns: readonly Column<T>[]
  readonly item: T
  readonly index: number
  readonly height: number
}

function PlainRow<T>({ columns, item, index, height }: RowProps<T>) {
  return (
    <tr className={styles.row} aria-rowindex={index + 2} style={{ height }}>
      {columns.map((column) => (
        <td key={column.title} data-narrow={column.narrow} title={column.hint?.(item)}>
          {column.labelled === true ? <span className={styles.label}>{column.title} </span> : null}
          {column.cell(item)}
        </td>
      ))}
    </tr>
  )
}

/** Rows that stay in view while the page scrolls are not rendered again. */
const Row: <T>(props: RowProps<T>) => ReactNode = memo(PlainRow)

/** The place of rows that are not in the document. */
function Gap({ columns, height }: { readonly columns: number; readonly height: number }) {
  return height <= 0 ? null : (
    <tr className={styles.gap}>
      <td colSpan={columns} style={{ height }} />
    </tr>
  )
}
