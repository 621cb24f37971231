// The event of a deployment whose desired number of replicas changed because of its scaling policy.

import { desiredReplicas, replicaCount } from '@holdfast/core'
import type { StoredDeployment } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

export interface ScalingCause {
  readonly reason: 'scale_up' | 'scale_down' | 'policy_set' | 'policy_deleted'
  /** Why, as a sentence. */
  readonly why: string
  readonly data?: { readonly [name: string]: number | null }
}

/** Undefined if the number stays the same. `now` makes the event of each change another one. */
export function scaledEvent(
  before: StoredDeployment,
  after: StoredDeployment,
  { reason, why, data = {} }: ScalingCause,
  now: string,
): NewEvent | undefined {
  const from = desiredReplicas(before)
  const to = desiredReplicas(after)
  if (from === to) return undefined
  const { name } = after.spec
  return {
    type: 'deployment.scaled',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid: after.uid },
    cause: `${after.scaling?.revision ?? 'deleted'} ${now}`,
    reason,
    message: `Deployment ${name} was scaled from ${from} to ${replicaCount(to)}. ${why}`,
    data: { from, to, ...data },
  }
}
