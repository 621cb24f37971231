// The records of a resource that the page filters by name: the line above them, the rows, or what the resource is for.

import { resourceTexts } from '../../texts/en/resources.ts'
import type { FailureShown, Outcome } from '../act-outcome.tsx'
import type { Column } from '../virtual-table.tsx'
import { ListTools, Teaching } from './list-page.tsx'
import { matchingNames } from './matching-names.ts'
import { RecordList } from './record-list.tsx'

interface Props<T> {
  readonly columns: readonly Column<NoInfer<T>>[]
  /** Undefined until the first page has been read. */
  readonly items: readonly T[] | undefined
  readonly failure: FailureShown | undefined
  readonly hasMore: boolean
  readonly q: string | undefined
  /** The outcome of the last change. */
  readonly outcome: Outcome
  /** Shown if the tenant has none. */
  readonly texts: { readonly emptyTitle: string; readonly emptyNext: string; readonly emptyCommand: string }
  onFilter(search: { readonly q?: string }): void
  onEnd(): void
}

export function FilteredList<T extends { readonly id: string; readonly name: string }>(props: Props<T>) {
  const { columns, items, failure, hasMore, q, outcome, texts, onFilter, onEnd } = props
  return (
    <>
      <ListTools
        q={q}
        filters={items !== undefined && items.length > 0}
        outcome={outcome}
        onChange={(next) => onFilter(next === undefined ? {} : { q: next })}
      />
      <RecordList
        columns={columns}
        items={items === undefined ? undefined : matchingNames(items, q)}
        failure={failure}
        hasMore={hasMore}
        keyOf={({ id }) => id}
        onEnd={onEnd}
        unmatched={q === undefined ? undefined : resourceTexts.noMatch}
        empty={<Teaching title={texts.emptyTitle} next={texts.emptyNext} command={texts.emptyCommand} />}
      />
    </>
  )
}
