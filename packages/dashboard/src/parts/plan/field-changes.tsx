// Changed fields, each with its old and its new value.

import type { Json } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'
import { showValue } from '../../texts/show-value.ts'
import type { ChangedField } from './changed-fields.ts'
import styles from './plan.module.css'

export function FieldChanges({ changes }: { readonly changes: readonly ChangedField[] }) {
  return (
    <ul className={styles.changes}>
      {changes.map(({ field, label, from, to }) => (
        <li key={field}>
          {label === undefined ? <code>{field}</code> : <strong>{label}</strong>}{' '}
          {texts.plan.change(showSide(from), showSide(to))}
        </li>
      ))}
    </ul>
  )
}

const showSide = (value: Json | undefined): string =>
  value === undefined || value === null ? texts.plan.absent : showValue(value)
