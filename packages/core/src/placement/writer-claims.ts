// Which claims on volumes a placement plan changes. A container that writes to a volume is created only under the claim of
// its deployment, and the claim is released only once no such container can exist or return by a rollback. See
// docs/design/volumes.md#mounts-and-writers

import type { Assignment, AssignmentId, ContainerTemplate, DeploymentSpec } from '@holdfast/contract'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import { isStateful } from '../rollout/plan-rollout-rules.ts'
import { hasLostPrimaries, isElsewhere } from '../volumes/promotion/lost-primaries.ts'
import type { DeploymentRecord, OwnClaim, PlacementRecord, PlacementSnapshot, VolumeAt } from './snapshot.ts'

/** The volumes and claims that the commit of a plan compares and changes. */
export interface ClaimChanges {
  /** Volumes whose place the plan relies on. */
  readonly compared: readonly string[]
  /** The assignments that write from now on. */
  readonly written: readonly { readonly volume: string; readonly id: AssignmentId; readonly epoch: number }[]
  /** The claims to delete. */
  readonly released: readonly string[]
}

type Mounts = DeploymentSpec['volumes'] | ContainerTemplate['mounts']

/** The volumes that are mounted read-write, in memory or not. */
const writtenIn = (mounts: Mounts = []): string[] => [
  ...new Set(mounts.filter(({ readOnly }) => !readOnly).map(({ volume }) => volume)),
]

const templatesIn = (placement: PlacementRecord | undefined): ContainerTemplate[] =>
  Object.values(placement?.templates ?? {})

/**
 * Whether two replicas of the deployment must never exist at once: one of its containers writes to a volume, or wrote to
 * one before the update, or would do so after a rollback.
 */
export function hasWriters(
  { placement }: Pick<PlacementSnapshot, 'placement'>,
  { spec }: Pick<DeploymentRecord, 'spec'>,
): boolean {
  return isStateful(spec) || templatesIn(placement).some(({ mounts = [] }) => isStateful({ volumes: mounts }))
}

/** Whether the epoch of the assignment is over: its container can no longer write to any of its volumes. */
export function isSuperseded(
  { placement, volumeOf }: Pick<PlacementSnapshot, 'placement' | 'volumeOf'>,
  { templateHash, nodeId }: Assignment,
): boolean {
  const mounts = placement?.templates[templateHash]?.mounts ?? []
  return hasLostPrimaries(mounts, nodeId, (volume) => volumeOf(volume)?.primary)
}

/** The last good revision; undefined if it writes to a volume that the deployment has released. */
export function usableLastGood({
  placement,
  claims,
}: Pick<PlacementSnapshot, 'placement' | 'claims'>): PlacementRecord['lastGood'] {
  const lastGood = placement?.lastGood
  const mounts = lastGood && placement?.templates[lastGood.templateHash]?.mounts
  return hasClaims(claims, writtenIn(mounts)) ? lastGood : undefined
}

const hasClaims = (claims: readonly OwnClaim[], written: readonly string[]): boolean =>
  written.every((id) => claims.some(({ volume }) => volume === id))

/** The plan without new replicas if they would write to a volume that the deployment has not claimed. */
export function withoutUnclaimed(
  { claims, target, placement }: PlacementSnapshot,
  { spec }: DeploymentRecord,
  plan: RolloutPlan,
): RolloutPlan {
  const mountsOf = (hash: string): Mounts =>
    hash === target?.templateHash ? spec.volumes : placement?.templates[hash]?.mounts
  const missing = plan.missing.filter(({ templateHash }) =>
    hasClaims(claims, writtenIn(mountsOf(templateHash))),
  )
  return missing.length === plan.missing.length ? plan : { ...plan, missing }
}

export function claimChanges(
  { claims, volumeOf }: Pick<PlacementSnapshot, 'claims' | 'volumeOf'>,
  added: readonly Assignment[],
  next: PlacementRecord | undefined,
): ClaimChanges {
  const mountsOf = ({ templateHash }: Assignment) => next?.templates[templateHash]?.mounts ?? []
  return {
    compared: [...new Set(added.flatMap((each) => mountsOf(each).map(({ volume }) => volume)))],
    written: added.flatMap((each) =>
      writtenIn(mountsOf(each)).map((volume) => ({
        volume,
        id: each.id,
        epoch: volumeOf(volume)?.primary?.epoch ?? 0,
      })),
    ),
    released: claims
      .filter(({ volume, state }) => state === 'releasing' && !mayBeWritten(next, volume, volumeOf(volume)))
      .map(({ volume }) => volume),
  }
}

/**
 * Whether a container that writes to the volume may exist, or may be created by a rollback. The promotion of a replicated
 * volume proves that no container on another node can write, whether or not its agent has confirmed that it is gone.
 */
function mayBeWritten(
  next: PlacementRecord | undefined,
  volume: string,
  stored: VolumeAt | undefined,
): boolean {
  if (next === undefined) return false
  const { assignments, templates, rollout, lastGood } = next
  const back = rollout === undefined || lastGood === undefined ? [] : [lastGood]
  const primary = stored?.class === 'replicated' ? stored.primary : undefined
  const current = assignments.filter(({ nodeId }) => !isElsewhere(primary, nodeId))
  return [...current, ...back].some(({ templateHash }) => {
    const template = templates[templateHash]
    return template === undefined || writtenIn(template.mounts).includes(volume)
  })
}

/** The sizes of the volumes that a deployment mounts in memory. */
export function sizesInMemory(
  { volumeOf }: Pick<PlacementSnapshot, 'volumeOf'>,
  { volumes = [] }: Pick<DeploymentSpec, 'volumes'>,
): { [volume: string]: number } {
  const inMemory = volumes.filter(({ type }) => type === 'tmpfs')
  return Object.fromEntries(
    inMemory.flatMap(({ volume }) => {
      const known = volumeOf(volume)
      return known === undefined ? [] : [[volume, known.sizeBytes] as const]
    }),
  )
}
