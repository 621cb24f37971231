// The quotas in use, the fullest first. The bar repeats the numbers, which a screen reader reads alone.

import type { Overview } from '@holdfast/contract'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatNumber } from '../../texts/format.ts'
import { wordsOf } from '../../texts/show-value.ts'
import { fullestFirst } from './fullest-first.ts'
import styles from './quotas.module.css'

type Quota = Overview['quotas'][number]

export function Quotas({ quotas }: { readonly quotas: readonly Quota[] }) {
  return (
    <Panel title={texts.overview.quotas}>
      <ul className={styles.list}>
        {fullestFirst(quotas).map((quota) => (
          <Row key={quota.kind} quota={quota} />
        ))}
      </ul>
    </Panel>
  )
}

function Row({ quota: { kind, used, limit } }: { readonly quota: Quota }) {
  const format = kind.endsWith('bytes') ? formatBytes : formatNumber
  return (
    <li className={styles.row} data-full={used >= limit}>
      <span>{wordsOf(kind.replace(/_bytes$/, ''))}</span>
      <span className={styles.numbers}>{texts.overview.used(format(used), format(limit))}</span>
      <svg className={styles.bar} viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="3" className={styles.track} />
        <rect
          width={limit === 0 ? 100 : Math.min(100, (used / limit) * 100)}
          height="3"
          className={styles.fill}
        />
      </svg>
    </li>
  )
}
