// The why matrix: each node, each filter that refuses one, and the remedy. A row opens to the values that were compared. On a
// phone it goes node by node.

import { REFUSAL_TEXTS, type WordText } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { Fragment, memo, useId, useState } from 'react'
import { texts } from '../texts/en.ts'
import { showValue, wordsOf } from '../texts/show-value.ts'
import { Icon } from './icon.tsx'
import styles from './matrix.module.css'
import { allFilters, type MatrixReason, type MatrixRow, refusingFilters } from './matrix-rows.ts'
import { Panel } from './panel.tsx'
import { useGrowingCount } from './use-growing-count.ts'
import { useNarrow } from './use-narrow.ts'

export function Matrix({ rows }: { readonly rows: readonly MatrixRow[] }) {
  const [all, setAll] = useState(false)
  const narrow = useNarrow()
  const refusing = refusingFilters(rows)
  const known = allFilters(rows)
  const button = (
    <Button variant="default" size="compact-xs" aria-pressed={all} onClick={() => setAll(!all)}>
      {all ? texts.why.showRefusing : texts.why.showAll}
    </Button>
  )
  return (
    <Panel
      title={texts.why.matrix}
      aside={
        <>
          {texts.why.shown(refusing.length, known.length)} {narrow ? null : button}
        </>
      }
    >
      {narrow ? <Cards rows={rows} /> : <Table rows={rows} filters={all ? known : refusing} />}
    </Panel>
  )
}

function Table({
  rows,
  filters,
}: {
  readonly rows: readonly MatrixRow[]
  readonly filters: readonly string[]
}) {
  const count = useGrowingCount(rows.length)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <figure className={styles.scroll} aria-label={texts.why.matrix} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{texts.why.node}</th>
            {filters.map((filter) => (
              <th key={filter} scope="col">
                {wordsOf(filter)}
              </th>
            ))}
            <th scope="col">{texts.why.remedy}</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count).map((row) => (
            <TableRow key={row.id} row={row} filters={filters} />
          ))}
        </tbody>
      </table>
    </figure>
  )
}

const TableRow = memo(
  ({ row, filters }: { readonly row: MatrixRow; readonly filters: readonly string[] }) => {
    const [opened, setOpened] = useState(false)
    const id = useId()
    const refused = new Set(row.reasons.map(({ filter }) => filter))
    return (
      <Fragment>
        <tr>
          <th scope="row">
            <Opener row={row} opened={opened} controls={id} onToggle={() => setOpened(!opened)} />
          </th>
          {filters.map((filter) => (
            <td key={filter}>
              {refused.has(filter) ? <No /> : <span className={styles.yes}>{texts.why.yes}</span>}
            </td>
          ))}
          <td className={styles.remedy}>{row.reasons.length === 0 ? texts.why.fits : row.remedy}</td>
        </tr>
        {opened ? (
          <tr id={id}>
            <td colSpan={filters.length + 2} className={styles.details}>
              <Reasons row={row} />
            </td>
          </tr>
        ) : null}
      </Fragment>
    )
  },
)

const No = () => (
  <strong className={styles.no}>
    <Icon name="cross" size={12} /> {texts.why.no}
  </strong>
)

interface OpenerProps {
  readonly row: MatrixRow
  readonly opened: boolean
  readonly controls: string
  onToggle(): void
}

function Opener({ row, opened, controls, onToggle }: OpenerProps) {
  if (row.reasons.length === 0 && row.members === undefined) return row.name
  return (
    <button
      type="button"
      className={styles.opener}
      aria-expanded={opened}
      aria-controls={controls}
      title={texts.why.details(row.name)}
      onClick={onToggle}
      data-row
    >
      <Icon name="chevron" size={12} />
      {row.name}
    </button>
  )
}

function Cards({ rows }: { readonly rows: readonly MatrixRow[] }) {
  return (
    <ul>
      {rows.map((row) => (
        <li key={row.id} className={styles.card}>
          <h3 className={styles.cardName}>{row.name}</h3>
          {row.reasons.length === 0 ? <p>{texts.why.fits}</p> : <Reasons row={row} />}
          {row.remedy === undefined ? null : (
            <p>
              {texts.overview.cure} {row.remedy}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

function Reasons({ row: { reasons, members, remedy } }: { readonly row: MatrixRow }) {
  return (
    <div className={styles.reasons}>
      {members === undefined ? null : <p className={styles.members}>{members.join(', ')}</p>}
      {reasons.map((reason) => (
        <Reason key={`${reason.filter}-${reason.code}`} reason={reason} isRemedy={reason.fix === remedy} />
      ))}
    </div>
  )
}

const MEANINGS: { readonly [code: string]: WordText } = REFUSAL_TEXTS

interface ReasonProps {
  readonly reason: MatrixReason
  /** True if the fix is the whole remedy of the row, which is shown beside. */
  readonly isRemedy: boolean
}

function Reason({ reason: { filter, code, required, reported, fix }, isRemedy }: ReasonProps) {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code]?.meaning : undefined
  return (
    <div className={styles.reason}>
      <p>
        <No /> <strong>{wordsOf(filter)}</strong>: {meaning ?? wordsOf(code)}
      </p>
      <p className={styles.values}>
        {texts.why.required} {showValue(required)}; {texts.why.reported} {showValue(reported)};{' '}
        <code>{code}</code>
      </p>
      {fix === undefined || isRemedy ? null : (
        <p>
          {texts.why.fix}: {fix}
        </p>
      )}
    </div>
  )
}
