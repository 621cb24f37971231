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
import type { StoredDeployment } from '../../../store/records.ts'
import { deploymentView } from '../read/deployment-view.ts'
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

export interface PlannedRollout {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
  /** Replicas that no node takes once all that can be done is done. */
  readonly unplaced: number
}

/** What would be stored, and over what. */
export interface PlanQuestion {
  /** Undefined: it would be created. The very record that is there where nothing would be stored. */
  readonly stored: StoredDeployment | undefined
  readonly next: StoredDeployment
  /** That is all that was asked for. */
  readonly restart: boolean
}

export interface PlanDeps extends PlacementDeps {
  /**
   * What the controllers would do about a deployment as it would be stored. Takes as long as the rollout has steps, and
   * keeps nobody else waiting; undefined where the tenant has asked for too many at once.
   */
  planAhead(tenant: TenantId, question: PlanQuestion): Promise<PlannedRollout | undefined>
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

/** Made when nothing is held any more: a decision of the store is taken several times, a plan once. */
export async function makePlan(
  deps: PlanDeps,
  tenant: TenantId,
  question: PlanQuestion,
): Promise<Plan | undefined> {
  const { stored, next } = question
  const foreseen = await deps.planAhead(tenant, question)
  if (foreseen === undefined) return undefined
  const { desired, placed } = deploymentView(deps.store, tenant, next).status.replicas
  const missing = stored === undefined ? next.spec.replicas : Math.max(foreseen.unplaced, desired - placed)
  const placement = planPlacement(deps, tenant, next.spec, missing)
  const { steps, rollout } = foreseen
  if (stored === undefined) return { action: 'create', revision: 1, changes: [], placement, steps }
  return {
    ...{ action: next === stored ? 'none' : 'update', revision: next.revision },
    changes: changedFields(stored.spec, next.spec),
    ...{ placement, steps, rollout },
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
