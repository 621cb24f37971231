// The plan of an edited manifest. Rejections of the server lead back to the text, where they are shown at their lines.

import type { Rejection } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Change } from '../../api/plan/change.ts'
import { useReview } from '../../api/plan/use-review.ts'
import { useSession } from '../../api/session.tsx'
import { useStatus } from '../../api/use-deployments.ts'
import { useStale } from '../../live/live-provider.tsx'
import { BackButton, ReviewView } from '../../parts/plan/review-view.tsx'
import { RolloutProgress } from '../../parts/plan/rollout-progress.tsx'
import { texts } from '../../texts/en.ts'
import styles from './editor.module.css'

interface Props {
  readonly change: Change
  /** The beginning of the button that sends it, such as: Apply. */
  readonly verb: string
  onBack(): void
  onRejected(rejections: readonly Rejection[]): void
  /** Starts again from the newest revision. */
  onRestart(): void
  /** The change is stored. */
  onStored(): void
}

export function PlanStage({ change, verb, onBack, onRejected, onRestart, onStored }: Props) {
  const name = change.deployment
  const review = useReview(change, useStale())
  const rejections = review.failure?.rejections ?? []
  const isRejected = rejections.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refused plan is reported once
  useEffect(() => {
    if (isRejected) onRejected(rejections)
  }, [isRejected])
  const isStored = review.state.kind === 'done'
  // biome-ignore lint/correctness/useExhaustiveDependencies: a stored change is reported once
  useEffect(() => {
    if (isStored) onStored()
  }, [isStored])
  return (
    <div className={styles.page}>
      <h2 className={styles.title}>{isStored ? texts.editor.stored(name) : texts.editor.what(name)}</h2>
      <ReviewView
        {...{ name, verb, review, onRestart }}
        done={<Followed name={name} />}
        beside={<BackButton label={texts.editor.back} onBack={onBack} />}
      />
    </div>
  )
}

function Followed({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  const { data: status } = useStatus(name)
  return (
    <RolloutProgress status={status}>
      <Link to="/t/$tenant/deployments/$name/why" params={{ tenant, name }} search={{}}>
        {texts.plan.open(name)}
      </Link>
    </RolloutProgress>
  )
}
