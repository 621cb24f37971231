// The scaling policy that a write of a deployment stores: that of the backup if it restores one, otherwise the stored one.

import type { DeploymentSpec, JsonObject, Warning } from '@holdfast/contract'
import { checkScaling, checkScalingFacts, scalingAfterUpdate } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { SCALING_FORM } from '../../store/records/collection.ts'
import type { StoredDeployment, StoredScaling } from '../../store/records.ts'
import { done, type Outcome, refused } from '../caller.ts'
import { nextScaling, type ScalingDeps } from './set-scaling.ts'

type Before = Pick<StoredDeployment, 'spec' | 'scaling'>

/** Undefined if the deployment has no policy after the write. */
export function scalingOfWrite(
  deps: Pick<ScalingDeps, 'admission' | 'clock'>,
  spec: DeploymentSpec,
  before: Before | undefined,
  restored: { readonly scalingPolicy?: JsonObject | undefined } | undefined,
): Outcome<StoredScaling | undefined> {
  if (restored !== undefined) return restoredScaling(deps, spec, before, restored.scalingPolicy)
  const scaling = before?.scaling && scalingAfterUpdate(before.scaling, before.spec, spec)
  return done(scaling)
}

/** The policy of a backup is judged again, because limits may have changed since. */
function restoredScaling(
  { admission, clock }: Pick<ScalingDeps, 'admission' | 'clock'>,
  spec: DeploymentSpec,
  before: Before | undefined,
  policy: JsonObject | undefined,
): Outcome<StoredScaling | undefined> {
  if (policy === undefined) return done(undefined)
  const checked = checkScaling(policy, undefined, admission)
  const faults = checked.ok ? checkScalingFacts(checked.value.policy, spec) : checked.rejections
  if (!checked.ok || faults.length > 0)
    return refused(...faults.map((fault) => ({ ...fault, field: `scalingPolicy.${fault.field}` })))
  const stored = { spec, ...(before?.scaling && { scaling: before.scaling }) }
  return done(nextScaling(stored, checked.value.policy, timestamp(clock)))
}

/** The members of a deployment's record that hold its policy; none without one. */
export const storedScaling = (
  scaling: StoredScaling | undefined,
): Partial<Pick<StoredDeployment, 'v' | 'scaling'>> =>
  scaling === undefined ? {} : { v: SCALING_FORM, scaling }

/** Warns that a changed number of replicas is not used while the deployment has a policy. */
export function warnOfPolicy(
  scaling: StoredScaling | undefined,
  before: DeploymentSpec,
  after: DeploymentSpec,
): Warning[] {
  if (scaling === undefined || before.replicas === after.replicas) return []
  if (before.replicas === 0 || after.replicas === 0) return []
  const { min, max } = scaling.policy
  const why = `The scaling policy desires ${scaling.desired} replicas, from ${min} to ${max}. The number ${after.replicas} is used once the policy is deleted.`
  return [{ code: 'scaling_policy_active', field: 'replicas', why }]
}
