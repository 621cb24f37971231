// One volume: its copies and their lag, the forecast for the death of its primary, and what the platform recommends.

import type { Volume } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useVolume } from '../../api/resources/use-volumes.ts'
import { useSession } from '../../api/session.tsx'
import { ActOutcome, type Outcome } from '../../parts/act-outcome.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { texts } from '../../texts/en.ts'
import { formatBytes } from '../../texts/format.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { Copies } from './copies.tsx'
import { Divergences } from './divergences.tsx'
import { Promotions } from './promotions.tsx'
import { Recommendations } from './recommendations.tsx'
import { RemoveVolume } from './remove-volume.tsx'
import { VolumeActions } from './volume-actions.tsx'
import { VolumeFacts } from './volume-facts.tsx'
import styles from './volume-page.module.css'

const route = getRouteApi('/t/$tenant/volumes/$volume')

/** Another volume has another page: nothing of the one before may stay. */
export function VolumePage() {
  const { volume } = route.useParams()
  return <VolumeOf key={volume} id={volume} />
}

function VolumeOf({ id }: { readonly id: string }) {
  const { data: volume, error, refetch } = useVolume(id)
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const onDone = (text: string): void => setOutcome({ kind: 'done', text })
  if (error !== null && isNotFound(error)) return <Unknown />
  if (volume === undefined)
    return (
      <div className={styles.page}>
        <PageHead title={texts.pages.volumes} />
        {error === null ? (
          <Loading lines={6} />
        ) : (
          <Failed {...explainFailure(error)} onRetry={() => void refetch()} />
        )}
      </div>
    )
  return (
    <div className={styles.page}>
      <PageHead
        title={volume.name}
        aside={<State volume={volume} />}
        actions={<VolumeActions volume={volume} onDone={onDone} />}
      />
      <ActOutcome outcome={outcome} />
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      <Recommendations volume={volume} onDone={onDone} />
      <Copies volume={volume} />
      <VolumeFacts volume={volume} />
      <Promotions volume={volume} />
      <Divergences volume={volume} />
      <RemoveVolume volume={volume} onDone={onDone} />
      <Foot volume={volume} />
    </div>
  )
}

function State({
  volume: { phase, reason, class: kind, usedBytes, sizeBytes },
}: {
  readonly volume: Volume
}) {
  const used = usedBytes === null ? undefined : formatBytes(usedBytes)
  return (
    <span className={styles.state}>
      <PhaseBadge word={phase} {...(reason === null ? {} : { reason })} />
      <span>{kind}</span>
      <span>{volumeTexts.usedOf(used, formatBytes(sizeBytes))}</span>
    </span>
  )
}

function Foot({ volume: { id, name } }: { readonly volume: Volume }) {
  const { tenant } = useSession()
  return <CliFoot same={resourceEquivalents.volume(tenant, id, name)} />
}

function Unknown() {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(volumeTexts.unknown)} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/volumes" params={{ tenant }} search={{}}>
          {volumeTexts.all}
        </Link>
      </p>
    </div>
  )
}
