// The running canary of a deployment as a consumer of a credential. No phase of a rotation moves a canary with its own
// version, so the canary must be promoted or aborted before that version can be destroyed.

import type { Assignment, DeploymentSpec } from '@holdfast/contract'
import {
  isActiveCanary,
  isCanaryReplica,
  pinOf,
  type RotationConsumer,
  stableAssignments,
} from '@holdfast/core'
import { canarySpec } from '../../../scheduling/canary-spec.ts'
import { canaryPins } from '../../../scheduling/canary-target.ts'
import type { StoredCredential, StoredDeployment, StoredPlacement } from '../../../store/records.ts'
import { pathOf } from '../versions/version-uses.ts'

/** Undefined if the deployment has no running canary that refers to the credential. */
export function gatherCanary(
  stored: StoredDeployment,
  credential: StoredCredential,
  /** The versions in the templates of the canary. */
  placed: readonly number[],
): RotationConsumer | undefined {
  const { canary } = stored
  if (canary === undefined || !isActiveCanary(canary)) return undefined
  if (!refersTo(canarySpec(stored, canary), credential)) return undefined
  const pin = pinOf(canaryPins(stored, canary), pathOf(credential)) ?? credential.initial
  // The next container of the canary needs the pinned version, whether or not one has been placed.
  const held = new Set([...placed, ...(pin === null ? [] : [pin])])
  return {
    ...{ name: stored.spec.name, pin, desired: 0, held: [...held], proved: new Map() },
    ...{ leaving: true, isCanary: true },
  }
}

export const refersTo = (
  { secrets }: Pick<DeploymentSpec, 'secrets'>,
  credential: StoredCredential,
): boolean => secrets.some(({ vault_path }) => vault_path === pathOf(credential))

type Templates = StoredPlacement['templates']

/** The templates that only replicas of a canary have, and all others, which replicas of the deployment may have. */
export function partsOf(placement: StoredPlacement | undefined): {
  readonly own: Templates
  readonly canary: Templates
} {
  const { templates = {}, assignments = [], lastGood } = placement ?? {}
  const hashesOf = (each: readonly Assignment[]) => new Set(each.map(({ templateHash }) => templateHash))
  const marked = hashesOf(assignments.filter(isCanaryReplica))
  const others = hashesOf(stableAssignments(assignments))
  const ofCanary = (hash: string): boolean =>
    marked.has(hash) && !others.has(hash) && lastGood?.templateHash !== hash
  const all = Object.entries(templates)
  return {
    own: Object.fromEntries(all.filter(([hash]) => !ofCanary(hash))),
    canary: Object.fromEntries(all.filter(([hash]) => ofCanary(hash))),
  }
}
