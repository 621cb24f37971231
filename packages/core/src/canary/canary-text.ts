// The state of a canary as one sentence, for explanations.

import type { CanaryFailure, CanaryProgress } from '@holdfast/contract'
import { failureText } from '../rollout/derive-status.ts'

const WAITS: { readonly [reason: string]: string } = {
  image_unresolved:
    ' No registry resolved its image when it was started. Abort the canary and start it again once the registry answers.',
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
      return `The canary was aborted ${CANARY_ENDED[reason] ?? `because ${failedText(reason, failures.at(-1))}`}.`
  }
}

/** Why a canary failed, as a clause. The image of a canary is resolved only at its start. */
export function canaryFailureText(reason: string, replica: string): string {
  if (reason === 'image_unresolved')
    return 'no registry resolved its image; start it again once the registry answers'
  // The first exit of a replica is enough, unlike that of an update.
  return `its replica ${replica} ${reason === 'exited' ? 'exited' : failureText(reason)}`
}

const failedText = (reason: string, { replica = 0, cause }: Partial<CanaryFailure> = {}): string =>
  `${canaryFailureText(reason, String(replica))}${cause === undefined ? '' : ` (${cause})`}`
