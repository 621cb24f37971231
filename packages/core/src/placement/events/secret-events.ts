// Events for containers that are not created because a secret cannot be resolved. An event is emitted once for each
// revision, secret and cause. The placement record lists the reported causes, so retries of an agent emit no further
// events.

import type { Observation } from '@holdfast/contract'
import { type SecretTrouble, secretTroubleText, unresolvedSecrets } from '../../rollout/secret-trouble.ts'
import type { PlacementEvent, PlacementPlan } from '../placement-plan.ts'
import type { DeploymentRecord, PlacementRecord } from '../snapshot.ts'

/**
 * The most causes that the placement record lists, so that reports of agents cannot make the record grow without limit.
 */
const MOST_REPORTED = 64
/**
 * The position of secret events in a transaction: after all others. An event id depends on the position, so a retried
 * transaction must use the same position.
 */
const LAST_PLACE = 0xff

const keyOf = ({ secret, cause }: SecretTrouble): string => `${secret ?? ''}: ${cause}`

/** `seen` is the newest observation of each desired replica whose node is not lost. */
export function findUnreportedSecrets(
  { spec, revision }: Pick<DeploymentRecord, 'spec' | 'revision'>,
  before: PlacementRecord | undefined,
  seen: readonly (Pick<Observation, 'reason' | 'about'> | undefined)[],
): { readonly reportedSecrets: string[]; readonly unreportedSecrets: readonly SecretTrouble[] } {
  const reported = before?.revision === revision ? (before.reportedSecrets ?? []) : []
  const unreportedSecrets = unresolvedSecrets(spec, seen)
    .filter((each) => !reported.includes(keyOf(each)))
    .slice(0, MOST_REPORTED - reported.length)
  return { reportedSecrets: [...reported, ...unreportedSecrets.map(keyOf)], unreportedSecrets }
}

export function secretEvents({
  deployment: { spec, revision },
  unreportedSecrets,
}: Pick<PlacementPlan, 'deployment' | 'unreportedSecrets'>): Omit<PlacementEvent, 'subject'>[] {
  return unreportedSecrets.map((each) => ({
    type: 'secret.unresolved',
    severity: 'warning',
    reason: 'secret_unresolved',
    place: LAST_PLACE,
    cause: `${revision}/${keyOf(each)}`,
    message: `${secretTroubleText(spec, each)} Until it is resolved, no new container is created; running containers keep running.`,
    data: {
      revision,
      secret: each.secret,
      cause: each.cause,
      vault_path: spec.secrets.find(({ name }) => name === each.secret)?.vault_path ?? null,
    },
  }))
}
