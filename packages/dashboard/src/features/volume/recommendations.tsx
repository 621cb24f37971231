// The recommendations of the platform for the volume. The effects of one are shown before it is applied.

import type { Recommendation, Volume } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { useRecommendations } from '../../api/resources/use-volumes.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatBytes } from '../../texts/format.ts'
import { wordsOf } from '../../texts/show-value.ts'
import { volumeChanges } from './volume-changes.ts'

interface Props {
  readonly volume: Volume
  onDone(text: string): void
}

export function Recommendations({ volume, onDone }: Props) {
  const { data = [] } = useRecommendations(volume.id)
  const [opened, setOpened] = useState<Recommendation>()
  const close = (): void => setOpened(undefined)
  return (
    <>
      {data.map((recommendation) => (
        <Advice key={recommendation.id} recommendation={recommendation} onPreview={setOpened} />
      ))}
      {opened === undefined ? null : (
        <Preview
          volume={volume}
          recommendation={opened}
          onClose={close}
          onDone={(text) => {
            close()
            onDone(text)
          }}
        />
      )}
    </>
  )
}

interface AdviceProps {
  readonly recommendation: Recommendation
  onPreview(recommendation: Recommendation): void
}

function Advice({ recommendation, onPreview }: AdviceProps) {
  const { priority, type, why, applicable, measured } = recommendation
  const urgent = priority === 'critical' || priority === 'high'
  return (
    <Notice
      severity={urgent ? 'warning' : 'info'}
      title={volumeTexts.recommendation(priority, wordsOf(type))}
    >
      <p>
        {why}{' '}
        {measured.measuredAt === undefined ? null : (
          <>
            ({volumeTexts.measuredAgo} <Moment iso={measured.measuredAt} />)
          </>
        )}
      </p>
      {applicable ? (
        <div>
          <Button variant="default" size="compact-sm" onClick={() => onPreview(recommendation)}>
            {volumeTexts.previewOf(actionOf(recommendation))}
          </Button>
        </div>
      ) : null}
    </Notice>
  )
}

function actionOf({ parameters }: Recommendation): string {
  const { target_replicas: replicas, target_size_bytes: bytes } = parameters
  if (replicas !== undefined) return volumeTexts.apply.set_replicas(replicas)
  return bytes === undefined ? volumeTexts.apply.other : volumeTexts.apply.resize(formatBytes(bytes))
}

interface PreviewProps extends Props {
  readonly recommendation: Recommendation
  onClose(): void
}

function Preview({ volume, recommendation, onDone, onClose }: PreviewProps) {
  const { client, tenant } = useSession()
  const { id, parameters, why } = recommendation
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'recommendation', id, JSON.stringify(parameters)),
    needs: 'volumes:write',
    stale: useStale(),
    plan: () => client.volumes.recommendations.planApply(id, { ...parameters }),
    ask: (idempotencyKey) =>
      client.volumes.recommendations
        .apply(id, { ...parameters }, { idempotencyKey })
        .then(afterSuccess(() => onDone(volumeTexts.applied(volume.name)))),
  })
  return (
    <PlannedDialog
      {...planned}
      title={`${volume.name}: ${actionOf(recommendation)}`}
      label={actionOf(recommendation)}
      none={volumeTexts.nothingRuns}
      fields={answer === undefined ? [] : volumeChanges(volume, answer.plan.result)}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{why}</p>
    </PlannedDialog>
  )
}
