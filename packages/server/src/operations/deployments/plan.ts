// What a write would do, as a value that prints: the answer of a dry run. DECISIONS 1.

import {
  canonicalJson,
  type DeploymentSpec,
  type Json,
  type JsonObject,
  type TenantId,
} from '@holdfast/contract'
import type { RolloutDescription } from '@holdfast/core'
import type { StoredDeployment } from '../../store/records.ts'
import { deploymentView } from './deployment-view.ts'
import { type PlacementPlan, planPlacement } from './plan-placement.ts'
import { planRolloutSteps, type RolloutDeps } from './plan-rollout.ts'

export interface Plan {
  readonly action: 'create' | 'update' | 'none'
  readonly revision: number
  /** Top-level fields whose stored value would be another one. */
  readonly changes: readonly FieldChange[]
  /** Where the replicas that are not placed yet would go now, with every node and every reason against it. */
  readonly placement: PlacementPlan
  /** What runs and would be made anew, step by step; absent for a create, since nothing runs yet. */
  readonly rollout?: RolloutDescription
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

export function planCreate(placement: PlacementPlan): Plan {
  return { action: 'create', revision: 1, changes: [], placement }
}

/** `next` is `stored` itself where nothing would be stored. */
export function planChange(
  deps: RolloutDeps,
  tenant: TenantId,
  stored: StoredDeployment,
  next: StoredDeployment,
  restart = false,
): Plan {
  const { desired, placed } = deploymentView(deps.store, tenant, next).status.replicas
  return {
    action: next === stored ? 'none' : 'update',
    revision: next.revision,
    changes: changedFields(stored.spec, next.spec),
    placement: planPlacement(deps, tenant, next.spec, Math.max(0, desired - placed)),
    rollout: planRolloutSteps(deps, tenant, next, restart),
  }
}

export function changedFields(before: DeploymentSpec, after: DeploymentSpec): FieldChange[] {
  const was: JsonObject = { ...before }
  const will: JsonObject = { ...after }
  const fields = [...new Set([...Object.keys(was), ...Object.keys(will)])]
  return fields
    .map((field) => ({ field, from: was[field] ?? null, to: will[field] ?? null }))
    .filter(({ from, to }) => canonicalJson(from) !== canonicalJson(to))
}
