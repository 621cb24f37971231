// A change under review: its plan or why there is none, the button that sends it, and what became of it.

import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import type { FailureShown, Outcome } from '../act-outcome.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { Notice } from '../notice.tsx'
import { useNow } from '../use-now.ts'
import { ApplyBar } from './apply-bar.tsx'
import { Conflict } from './conflict.tsx'
import styles from './plan.module.css'
import { PlanView, type ShownPlan } from './plan-view.tsx'

type OtherChange = Parameters<typeof Conflict>[0]['other']

interface ShownReview {
  readonly checked:
    | { readonly planned: ShownPlan; readonly revision: number | undefined; readonly at: number }
    | undefined
  readonly failure: FailureShown | undefined
  readonly closed: string | undefined
  readonly state:
    | { readonly kind: 'open' | 'sending' | 'differs' | 'done' }
    | { readonly kind: 'failed'; readonly failure: FailureShown }
    | { readonly kind: 'conflict'; readonly other: OtherChange }
    | { readonly kind: 'unknown'; again(): void }
  apply(): void
  again(): void
}

interface Props {
  readonly name: string
  /** The beginning of the button, such as: Apply. */
  readonly verb: string
  readonly review: ShownReview
  /** Shown once the change was sent. */
  readonly done: ReactNode
  readonly beside?: ReactNode
  /** Starts again from the newest revision. */
  onRestart(): void
}

export function ReviewView({ name, verb, review, done, beside, onRestart }: Props) {
  const { checked, failure, state, closed } = review
  if (state.kind === 'done') return <div className={styles.review}>{done}</div>
  if (state.kind === 'conflict') return <Conflict name={name} other={state.other} onRestart={onRestart} />
  if (failure !== undefined)
    return (
      <div className={styles.review}>
        <Failed {...failure} onRetry={review.again} />
        <div className={styles.buttons}>{beside}</div>
      </div>
    )
  if (checked === undefined) return <Loading lines={6} />
  return (
    <div className={styles.review}>
      {state.kind === 'differs' ? (
        <Notice severity="warning" title={texts.plan.differs} announced>
          <p>{texts.plan.differsNext}</p>
        </Notice>
      ) : null}
      <CheckedAt {...checked} />
      <PlanView plan={checked.planned} />
      <ApplyBar
        {...{ name, verb, closed, beside }}
        plan={checked.planned}
        outcome={outcomeOf(state)}
        onApply={review.apply}
      />
    </div>
  )
}

function CheckedAt({ revision, at }: { readonly revision: number | undefined; readonly at: number }) {
  const now = useNow()
  const time = formatTime(new Date(at).toISOString(), now)
  return (
    <p className={styles.muted}>
      {revision === undefined ? texts.plan.fromNothing(time) : texts.plan.from(revision, time)}
    </p>
  )
}

function outcomeOf(state: ShownReview['state']): Outcome {
  if (state.kind === 'sending') return { kind: 'running' }
  return state.kind === 'unknown' || state.kind === 'failed' ? state : { kind: 'idle' }
}

/** The way back from a plan. */
export const BackButton = ({ label, onBack }: { readonly label: string; onBack(): void }) => (
  <Button variant="default" onClick={onBack}>
    {label}
  </Button>
)
