// What a write would do, as a value that prints: the answer of a dry run. DECISIONS 1.

import {
  canonicalJson,
  type DeploymentSpec,
  type Json,
  type JsonObject,
  type PlanStep,
  type RolloutPlanned,
  type TenantId,
} from '@holdfast/contract'
import type { StoredDeployment } from '../../store/records.ts'
import { deploymentView } from './deployment-view.ts'
import { type PlacementDeps, type PlacementPlan, planPlacement } from './plan-placement.ts'

export interface Plan {
  readonly action: 'create' | 'update' | 'none'
  readonly revision: number
  /** Top-level fields whose stored value would be another one. */
  readonly changes: readonly FieldChange[]
  /** Where the replicas that are not placed yet would go now, with every node and every reason against it. */
  readonly placement: PlacementPlan
  /** What the controllers would do, one step after another. */
  readonly steps: readonly PlanStep[]
  /** What runs and would be made anew; absent for a create, since nothing runs yet. */
  readonly rollout?: RolloutPlanned
}

export interface Foreseen {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
}

export interface PlanDeps extends PlacementDeps {
  /** What the controllers would do about a deployment as it would be stored; `restart` where that is all that was asked. */
  foresee(tenant: TenantId, next: StoredDeployment, restart: boolean): Foreseen
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

export function planCreate(deps: PlanDeps, tenant: TenantId, next: StoredDeployment): Plan {
  const placement = planPlacement(deps, tenant, next.spec, next.spec.replicas)
  const { steps } = deps.foresee(tenant, next, false)
  return { action: 'create', revision: 1, changes: [], placement, steps }
}

/** `next` is `stored` itself where nothing would be stored. */
export function planChange(
  deps: PlanDeps,
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
    ...deps.foresee(tenant, next, restart),
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
