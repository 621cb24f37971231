// The end of a plan: the button that names the effects, the confirmation that the effects need, and the outcome.

import { Button, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { texts } from '../../texts/en.ts'
import { ActOutcome, type Outcome } from '../act-outcome.tsx'
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
  const [wrong, setWrong] = useState(false)
  const typed = needsName(plan)
  const nothing = plan.action === 'none' ? texts.plan.none : undefined
  const why = nothing ?? closed
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (why !== undefined) return
    const isRight = !typed || new FormData(event.currentTarget).get('name') === name
    setWrong(!isRight)
    if (isRight) onApply()
  }
  return (
    <form className={styles.bar} onSubmit={submit}>
      {typed && nothing === undefined ? (
        <TextInput
          name="name"
          label={texts.plan.confirm(name)}
          autoComplete="off"
          className={styles.confirm}
          error={wrong ? texts.plan.wrongName(name) : null}
        />
      ) : null}
      <div className={styles.buttons}>
        <Button
          type="submit"
          {...(typed ? { className: styles.danger } : {})}
          disabled={outcome.kind === 'running'}
          {...(why === undefined ? {} : { 'data-disabled': true, 'aria-disabled': true })}
        >
          {applyLabel(verb, plan)}
        </Button>
        {beside}
        {why === undefined ? null : <span className={styles.muted}>{why}</span>}
      </div>
      <ActOutcome outcome={outcome} />
    </form>
  )
}
