// How far a stored change has got: the phase, the ready replicas, and the sentence of the server, as they change.

import type { DeploymentStatus } from '@holdfast/contract'
import type { ReactNode } from 'react'
import { texts } from '../../texts/en.ts'
import { Loading } from '../loading.tsx'
import { Panel } from '../panel.tsx'
import { PhaseBadge } from '../phase-badge.tsx'
import styles from './plan.module.css'

interface Props {
  readonly status: DeploymentStatus | undefined
  /** Links onwards. */
  readonly children: ReactNode
}

export function RolloutProgress({ status, children }: Props) {
  return (
    <Panel title={texts.plan.progress}>
      <div className={styles.progress} role="status">
        {status === undefined ? (
          <Loading lines={2} />
        ) : (
          <>
            <p className={styles.buttons}>
              <PhaseBadge
                word={status.phase}
                {...(status.phase === 'Running' ? {} : { reason: status.reason })}
              />
              <strong>{texts.plan.running(status.replicas.ready, status.replicas.desired)}</strong>
            </p>
            {status.message === '' ? null : <p>{status.message}</p>}
          </>
        )}
        <p className={styles.buttons}>{children}</p>
      </div>
    </Panel>
  )
}
