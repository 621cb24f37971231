// Deployments as rows, of which only those near the view are in the document; the whole page scrolls. Two empty rows take the
// place of those above and below.

import type { DeploymentSummary } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useSession } from '../../api/session.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { texts } from '../../texts/en.ts'
import styles from './deployment-table.module.css'

interface Props {
  readonly items: readonly DeploymentSummary[]
  readonly hasMore: boolean
  /** The last row is near. */
  onEnd(): void
}

const ROW_PX = 38
const NARROW_ROW_PX = 62
/** Rows are read further when the last one is this near. */
const NEAR_ROWS = 20
const COLUMNS = [
  texts.deployments.name,
  texts.deployments.phase,
  texts.deployments.ready,
  texts.deployments.revision,
  texts.deployments.nodes,
  texts.deployments.updated,
]

export function DeploymentTable({ items, hasMore, onEnd }: Props) {
  const table = useRef<HTMLTableElement>(null)
  const height = useNarrow() ? NARROW_ROW_PX : ROW_PX
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(table.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
  })
  const shown = rows.getVirtualItems()
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0]
  useEffect(() => {
    if (hasMore && last >= items.length - NEAR_ROWS) onEnd()
  }, [hasMore, last, items.length, onEnd])
  return (
    <table ref={table} className={styles.table} aria-rowcount={hasMore ? -1 : items.length + 1}>
      <thead>
        <tr>
          {COLUMNS.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Gap height={first * height} />
        {items.slice(first, last + 1).map((item, at) => (
          <Row key={item.uid} item={item} index={first + at} height={height} />
        ))}
        <Gap height={(items.length - last - 1) * height} />
      </tbody>
    </table>
  )
}

/** The place of rows that are not in the document. */
function Gap({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    <tr className={styles.gap}>
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  )
}

interface RowProps {
  readonly item: DeploymentSummary
  readonly index: number
  readonly height: number
}

function Row({ item, index, height }: RowProps) {
  const { tenant } = useSession()
  const { name, phase, reason, replicas, revision, nodes, updatedAt } = item
  return (
    <tr className={styles.row} aria-rowindex={index + 2} style={{ height }}>
      <td>
        <Link
          to="/t/$tenant/deployments/$name/why"
          params={{ tenant, name }}
          search={{}}
          className={styles.link}
          data-row
        >
          {name}
        </Link>
      </td>
      <td>
        <PhaseBadge word={phase} {...(phase === 'Running' ? {} : { reason })} />
      </td>
      <td>{`${replicas.ready} / ${replicas.desired}`}</td>
      <td className={styles.wide}>{revision}</td>
      <td className={styles.wide} title={nodes.join(', ')}>
        {nodes.join(', ')}
      </td>
      <td className={styles.muted}>
        <Moment iso={updatedAt} age />
      </td>
    </tr>
  )
}
