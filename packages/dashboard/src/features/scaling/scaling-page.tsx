// The scaling policy of a deployment: what it wants and why it does not act, and the form that changes it, plan first.

import type { JsonObject, Scaling } from '@holdfast/contract'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import type { Change } from '../../api/plan/change.ts'
import { useReview } from '../../api/plan/use-review.ts'
import { scalingChanges } from '../../api/scaling/scaling-changes.ts'
import { useScaling } from '../../api/scaling/use-scaling.ts'
import { useStale } from '../../live/live-provider.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { BackButton, ReviewView } from '../../parts/plan/review-view.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { PolicyForm } from './policy-form.tsx'
import { PolicyStatus } from './policy-status.tsx'
import styles from './scaling-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/scaling')

/** Another deployment has another page: nothing of the one before may stay. */
export function ScalingPage() {
  const { name } = route.useParams()
  return <ScalingOf key={name} name={name} />
}

function ScalingOf({ name }: { readonly name: string }) {
  const { data: scaling, error } = useScaling(name)
  const [asked, setAsked] = useState<Change>()
  return (
    <div className={styles.page}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {scaling === undefined && error === null ? <Loading lines={4} /> : null}
      {scaling === undefined ? null : <Policy scaling={scaling} />}
      {asked === undefined ? null : (
        <Reviewed key={asked.id} change={asked} onEnd={() => setAsked(undefined)} />
      )}
      {scaling === undefined || asked !== undefined ? null : (
        <PolicyForm
          scaling={scaling}
          onPreview={(body: JsonObject) => setAsked(scalingChanges.set(name, body))}
          onRemove={() => setAsked(scalingChanges.remove(name))}
        />
      )}
      <CliFoot same={equivalents.scaling(name)} />
    </div>
  )
}

function Policy({ scaling }: { readonly scaling: Scaling | null }) {
  if (scaling !== null) return <PolicyStatus scaling={scaling} />
  return (
    <Notice severity="info" title={texts.scaling.none}>
      <p>{texts.scaling.noneNext}</p>
    </Notice>
  )
}

function Reviewed({ change, onEnd }: { readonly change: Change; onEnd(): void }) {
  const review = useReview(change, useStale())
  return (
    <>
      <h2 className={styles.title}>{texts.scaling.what(change.deployment)}</h2>
      <ReviewView
        name={change.deployment}
        verb={texts.plan.verbs.apply}
        review={review}
        beside={<BackButton label={texts.plan.back} onBack={onEnd} />}
        onRestart={onEnd}
        done={
          <Notice severity="info" title={texts.scaling.stored} announced>
            <div>
              <BackButton label={texts.scaling.change} onBack={onEnd} />
            </div>
          </Notice>
        }
      />
    </>
  )
}
