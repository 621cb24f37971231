// The next step of a rotation and the way back, each with its effects from a dry run and a button that names them.

import type { SentRotation } from '@holdfast/client'
import type { CredentialRotation, RotationStep } from '@holdfast/contract'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useRotate, useRotationPlan } from '../../api/secrets/use-rotation.ts'
import { mayDo, useSession, whyClosed } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActOutcome } from '../../parts/act-outcome.tsx'
import { EffectsList } from '../../parts/effects-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { texts } from '../../texts/en.ts'
import { actText, asStep, orderText } from './describe-rotation.ts'
import styles from './rotation-page.module.css'
import { StageForm } from './stage-form.tsx'

const words = texts.secrets.rotation
const NEEDS = 'secrets:rotate'

interface Props {
  readonly deployment: string
  readonly credential: CredentialRotation
}

export function NextStep({ deployment, credential }: Props) {
  const { me } = useSession()
  const stale = useStale()
  const { state, rotate } = useRotate(deployment)
  const [last, setLast] = useState<RotationStep>()
  const rotation: ReturnType<typeof useRotate> = {
    state,
    rotate(sent, shown) {
      setLast(sent.phase)
      rotate(sent, shown)
    },
  }
  const isOver = last === 'retire' && credential.phase === 'idle'
  const closed = whyClosed(me, NEEDS, stale)
  const steps = credential.next.flatMap((step) => asStep(step) ?? [])
  const { blockedBy, secret } = credential
  return (
    <>
      {blockedBy.length === 0 ? null : (
        <div className={styles.waits}>
          <span>{words.waits}</span>
          <ul>
            {blockedBy.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
      {steps.map((step) =>
        step === 'stage' ? (
          <StageForm
            key={step}
            path={credential.vault_path}
            label={actText(step, credential, deployment) ?? step}
            closed={closed ?? blockedBy[0]}
            running={rotation.state.kind === 'running'}
            onStage={(material) => rotation.rotate({ phase: step, secret, ...material })}
          />
        ) : (
          <Step
            key={step}
            deployment={deployment}
            credential={credential}
            step={step}
            closed={closed ?? (step === 'abort' ? undefined : blockedBy[0])}
            rotation={rotation}
          />
        ),
      )}
      <ActOutcome
        outcome={rotation.state}
        done={isOver ? words.finished : words.now(words.phases[credential.phase])}
      />
    </>
  )
}

interface StepProps extends Props {
  readonly step: RotationStep
  readonly closed: string | undefined
  readonly rotation: ReturnType<typeof useRotate>
}

function Step({ deployment, credential, step, closed, rotation }: StepProps) {
  const { me } = useSession()
  const sent: SentRotation = { phase: step, secret: credential.secret }
  const blocked = step !== 'abort' && credential.blockedBy.length > 0
  const order = step === 'cutover' ? orderText(credential, deployment) : undefined
  const { data: effects, error } = useRotationPlan(deployment, sent, mayDo(me, NEEDS) && !blocked)
  return (
    <div className={styles.plan}>
      <p className={styles.planTitle}>{step === 'abort' ? words.abortPlan : words.plan}</p>
      {order === undefined ? null : <p className={styles.order}>{order}</p>}
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {effects === undefined ? null : <EffectsList effects={effects} none={words.noEffect} />}
      <div className={styles.act}>
        <ActButton
          primary={step !== 'abort'}
          label={actText(step, credential, deployment) ?? step}
          closed={closed}
          running={
            rotation.state.kind === 'running' || (!blocked && closed === undefined && effects === undefined)
          }
          onAct={() => rotation.rotate(sent, effects)}
        />
      </div>
    </div>
  )
}
