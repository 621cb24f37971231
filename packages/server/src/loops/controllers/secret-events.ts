// A container is not made because one of its secrets is not to be had: told once for each revision, secret and cause, by the
// decision that first finds it so. DECISIONS 5 and 7, SAFETY 2 row 8. Which were told is kept with the placement: the story
// does not begin anew with each try of an agent.

import type { Observation } from '@holdfast/contract'
import { type SecretTrouble, secretTroubleText, unresolvedSecrets } from '@holdfast/core'
import type { NewEvent } from '../../operations/record-write.ts'
import type { StoredDeployment, StoredPlacement } from '../../store/records.ts'
import type { Decision } from './decision.ts'

/** A record stays small, whatever its nodes say. */
const MOST_TOLD = 64
/** The same in every transaction, since the id follows from it: the last of those that are written together. */
const PLACE = 0xff

const keyOf = ({ secret, cause }: SecretTrouble): string => `${secret ?? ''}: ${cause}`

/** `seen`: the newest word of each replica that is wished and whose node is not lost. */
export function emitSecretEvents(
  { spec, revision }: StoredDeployment,
  before: StoredPlacement | undefined,
  seen: readonly (Pick<Observation, 'reason' | 'about'> | undefined)[],
): { readonly reportedSecrets: string[]; readonly unreportedSecrets: readonly SecretTrouble[] } {
  const told = before?.revision === revision ? (before.reportedSecrets ?? []) : []
  const unreportedSecrets = unresolvedSecrets(spec, seen)
    .filter((each) => !told.includes(keyOf(each)))
    .slice(0, MOST_TOLD - told.length)
  return { reportedSecrets: [...told, ...unreportedSecrets.map(keyOf)], unreportedSecrets }
}

export function secretEvents({ stored, unreportedSecrets }: Decision): Omit<NewEvent, 'subject'>[] {
  const { spec, revision } = stored
  return unreportedSecrets.map((each) => ({
    ...{ type: 'secret.unresolved', severity: 'warning', reason: 'secret_unresolved', place: PLACE },
    cause: `${revision}/${keyOf(each)}`,
    message: `${secretTroubleText(spec, each)} Until it is resolved no new container is made; what runs goes on.`,
    data: {
      ...{ revision, secret: each.secret, cause: each.cause },
      vault_path: spec.secrets.find(({ name }) => name === each.secret)?.vault_path ?? null,
    },
  }))
}
