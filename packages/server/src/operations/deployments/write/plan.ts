// The plan of a dry run: what the write would store and what the controllers would do then
// (docs/design/rollouts.md#dry-run-plans).

import {
  canonicalJson,
  type DeploymentSpec,
  type Json,
  type JsonObject,
  type PlanStep,
  type RolloutPlanned,
  type TenantId,
} from '@holdfast/contract'
import type { PlacementExplanation } from '@holdfast/core/placement/explain-placement'
import type { StoredDeployment } from '../../../store/records.ts'
import { explainTenantPlacement, type PlacementDeps } from '../explain-placement.ts'
import { deploymentView } from '../read/deployment-view.ts'

export interface Plan {
  readonly action: 'create' | 'update' | 'none'
  readonly revision: number
  /** Top-level fields whose stored value would change. */
  readonly changes: readonly FieldChange[]
  /** The nodes that unplaced replicas would get now, and for every other node the reasons against it. */
  readonly placement: PlacementExplanation
  /** The steps of the controllers, in order. */
  readonly steps: readonly PlanStep[]
  /** Running replicas that would be recreated; absent for a create. */
  readonly rollout?: RolloutPlanned
}

export interface PlannedRollout {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
  /** Replicas that still have no node at the end of the rollout. */
  readonly unplaced: number
}

/** The record that would be stored and the one it would replace. */
export interface PlanQuestion {
  /** Undefined for a create; the same object as `next` where nothing would be stored. */
  readonly stored: StoredDeployment | undefined
  readonly next: StoredDeployment
  /** The write is a restart. */
  readonly restart: boolean
}

export interface PlanDeps extends PlacementDeps {
  /**
   * Simulates what the controllers would do about the stored deployment, without blocking other requests; its duration
   * grows with the rollout's steps. Undefined where the tenant has too many plans under way.
   */
  planAhead(tenant: TenantId, question: PlanQuestion): Promise<PlannedRollout | undefined>
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

/** Called after the transaction: a transaction may decide several times, but the plan is made once. */
export async function makePlan(
  deps: PlanDeps,
  tenant: TenantId,
  question: PlanQuestion,
): Promise<Plan | undefined> {
  const { stored, next } = question
  const planned = await deps.planAhead(tenant, question)
  if (planned === undefined) return undefined
  const { desired, placed } = deploymentView(deps.store, tenant, next).status.replicas
  const missing = stored === undefined ? next.spec.replicas : Math.max(planned.unplaced, desired - placed)
  const placement = explainTenantPlacement(deps, tenant, next.spec, missing)
  const { steps, rollout } = planned
  if (stored === undefined) return { action: 'create', revision: 1, changes: [], placement, steps }
  return {
    action: next === stored ? 'none' : 'update',
    revision: next.revision,
    changes: changedFields(stored.spec, next.spec),
    placement,
    steps,
    rollout,
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
