// The plan page of a change that needs no manifest: restart, scale, roll back, delete, and the end of a canary. The plan comes
// first; the button that sends the change names its effects.

import { getRouteApi, Link, Navigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import type { ChangeSearch } from '../../api/plan/read-change.ts'
import { useReview } from '../../api/plan/use-review.ts'
import { useSession } from '../../api/session.tsx'
import { useStatus } from '../../api/use-deployments.ts'
import { useStale } from '../../live/live-provider.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { BackButton, ReviewView } from '../../parts/plan/review-view.tsx'
import { RolloutProgress } from '../../parts/plan/rollout-progress.tsx'
import { texts } from '../../texts/en.ts'
import { type AskedChange, askedChange } from './change-of.ts'
import styles from './change-page.module.css'
import { ForceField, ReplicasField } from './fields.tsx'

const route = getRouteApi('/t/$tenant/deployments/$name/change')

export function ChangePage() {
  const { name } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: status } = useStatus(name)
  const [round, setRound] = useState(0)
  const choose = (next: Partial<ChangeSearch>): void =>
    void navigate({ search: { ...search, ...next }, replace: true })
  const asked = askedChange(name, search)
  return (
    <div className={styles.page}>
      {search.act === 'scale' ? (
        <ReplicasField
          key={name}
          initial={search.replicas ?? status?.replicas.desired}
          onChoose={(replicas) => choose({ replicas })}
        />
      ) : null}
      {search.act === 'promote' ? (
        <ForceField checked={search.force === true} onChoose={(force) => choose({ force })} />
      ) : null}
      {asked === undefined ? null : (
        <Reviewed
          key={`${asked.change.id} ${round}`}
          asked={asked}
          name={name}
          isRemoval={search.act === 'delete'}
          onRestart={() => setRound(round + 1)}
        />
      )}
    </div>
  )
}

interface ReviewedProps {
  readonly asked: AskedChange
  readonly name: string
  readonly isRemoval: boolean
  onRestart(): void
}

function Reviewed({ asked, name, isRemoval, onRestart }: ReviewedProps) {
  const { tenant } = useSession()
  const router = useRouter()
  const review = useReview(asked.change, useStale())
  const done = isRemoval ? (
    <Navigate to="/t/$tenant/deployments" params={{ tenant }} search={{}} />
  ) : (
    <Followed name={name} />
  )
  return (
    <>
      <h2 className={styles.title}>{asked.title}</h2>
      <ReviewView
        {...{ name, review, done, onRestart }}
        verb={asked.verb}
        beside={<BackButton label={texts.plan.back} onBack={() => router.history.back()} />}
      />
      <CliFoot same={asked.same} />
    </>
  )
}

function Followed({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  const { data: status } = useStatus(name)
  return (
    <RolloutProgress status={status}>
      <Link to="/t/$tenant/deployments/$name/replicas" params={{ tenant, name }}>
        {texts.plan.open(name)}
      </Link>
    </RolloutProgress>
  )
}
