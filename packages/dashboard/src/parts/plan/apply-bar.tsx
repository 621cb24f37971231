// The end of a plan: the button that names the effects, the confirmation that the effects need, and the outcome.

import type { ReactNode } from 'react'
import { texts } from '../../texts/en.ts'
import { ActOutcome, type Outcome } from '../act-outcome.tsx'
import { ConfirmForm } from '../dialog/confirm-form.tsx'
import { applyLabel } from './apply-label.ts'
import { needsName } from './confirm-weight.ts'
import styles from './plan.module.css'
import type { ShownPlan } from './plan-view.tsx'

interface Props {
  readonly name: string
  /** The beginning of the button, such as: Apply. */
  readonly verb: string
  readonly plan: ShownPlan
  /** Why the change is closed to this person, or now; absent if it is open. */
  readonly closed: string | undefined
  readonly outcome: Outcome
  /** Other buttons beside it, such as the way back. */
  readonly beside?: ReactNode
  onApply(): void
}

export function ApplyBar({ name, verb, plan, closed, outcome, beside, onApply }: Props) {
  const nothing = plan.action === 'none' ? texts.plan.none : undefined
  return (
    <div className={styles.bar}>
      <ConfirmForm
        label={applyLabel(verb, plan)}
        typed={needsName(plan) && nothing === undefined ? name : undefined}
        closed={nothing ?? closed}
        waiting={outcome.kind === 'running'}
        beside={beside}
        onConfirm={onApply}
      />
      <ActOutcome outcome={outcome} />
    </div>
  )
}
