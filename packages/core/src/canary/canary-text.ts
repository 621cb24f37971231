// The state of a canary as one sentence, for explanations.

import type { CanaryProgress } from '@holdfast/contract'
import { failureText } from '../rollout/derive-status.ts'

const WAITS: { readonly [reason: string]: string } = {
  image_unresolved: ' No registry has resolved its image yet.',
  unschedulable: ' No node accepts one of its replicas.',
  dependency_unhealthy: ' It waits for a dependency.',
}

/** How a canary ended without a failure, by its reason. */
export const CANARY_ENDED: { readonly [reason: string]: string } = {
  aborted: 'on request',
  superseded: 'by a new revision',
}

export function canaryText({
  phase,
  reason,
  since,
  replicas,
  weight,
  observe,
  failures,
}: CanaryProgress): string {
  const parts = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'} and ${weight} % of the requests`
  switch (phase) {
    case 'progressing':
      return `A canary with ${parts} is starting.${WAITS[reason] ?? ''}`
    case 'observing':
      return `A canary with ${parts} is observed for ${observe} since ${since}.`
    case 'ready':
      return `A canary with ${parts} has passed its observation and can be promoted.`
    case 'aborted':
      return `The canary was aborted ${CANARY_ENDED[reason] ?? failedText(failures.at(-1)?.replica, reason, failures.at(-1)?.cause)}.`
  }
}

/** Why a replica made a canary fail. Its first exit is enough, unlike that of an update. */
export const canaryFailureText = (reason: string): string =>
  reason === 'exited' ? 'exited' : failureText(reason)

const failedText = (replica = 0, reason: string, cause?: string): string =>
  `because its replica ${replica} ${canaryFailureText(reason)}${cause === undefined ? '' : ` (${cause})`}`
