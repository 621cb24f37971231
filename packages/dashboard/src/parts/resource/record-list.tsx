// The list of a page: rows as they arrive, or why there are none.

import type { ReactNode } from 'react'
import type { FailureShown } from '../act-outcome.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { type Column, VirtualTable } from '../virtual-table.tsx'
import styles from './record-list.module.css'

interface Props<T> {
  readonly columns: readonly Column<T>[]
  /** Undefined until the first page has been read. */
  readonly items: readonly T[] | undefined
  readonly failure: FailureShown | undefined
  readonly hasMore: boolean
  /** Shown if the tenant has none. */
  readonly empty: ReactNode
  /** Shown instead if a filter leaves none. */
  readonly unmatched?: string | undefined
  keyOf(item: T): string
  onEnd(): void
}

export function RecordList<T>({ items, failure, empty, unmatched, ...table }: Props<T>) {
  if (items === undefined) return failure === undefined ? <Loading lines={6} /> : <Failed {...failure} />
  const none = unmatched === undefined ? empty : <p className={styles.none}>{unmatched}</p>
  return (
    <>
      {failure === undefined ? null : <Failed {...failure} />}
      {items.length === 0 ? none : <VirtualTable items={items} {...table} />}
    </>
  )
}
