// Asks before a change that the server has planned: the fields that it alters, its effects, or why there is no plan.

import type { Effects } from '@holdfast/contract'
import type { ReactNode } from 'react'
import type { FailureShown } from '../act-outcome.tsx'
import { EffectsList } from '../effects-list.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import type { ChangedField } from '../plan/changed-fields.ts'
import { FieldChanges } from '../plan/field-changes.tsx'
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx'
import styles from './dialog.module.css'

interface Props extends Omit<ConfirmDialogProps, 'ready' | 'children'> {
  /** Shown if nothing that runs would change. */
  readonly none: string
  /** False while the change is not chosen yet. */
  readonly chosen?: boolean
  /** Undefined until the server has answered. */
  readonly effects: Effects | undefined
  readonly failure: FailureShown | undefined
  /** The fields that would change. */
  readonly fields?: readonly ChangedField[]
  /** The steps in order, in the words of the server. */
  readonly steps?: readonly string[]
  readonly children?: ReactNode
}

export function PlannedDialog(props: Props) {
  const { none, chosen = true, effects, failure, fields = [], steps = [], children, ...dialog } = props
  const isKnown = chosen && effects !== undefined && failure === undefined
  return (
    <ConfirmDialog {...dialog} ready={isKnown}>
      {children}
      {failure === undefined ? null : <Failed {...failure} />}
      {chosen && effects === undefined && failure === undefined ? <Loading /> : null}
      {isKnown ? (
        <>
          {fields.length === 0 ? null : <FieldChanges changes={fields} />}
          {steps.length === 0 ? null : (
            <ol className={styles.steps}>
              {steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          )}
          <div className={styles.effects}>
            <EffectsList effects={effects} none={none} />
          </div>
        </>
      ) : null}
    </ConfirmDialog>
  )
}
