// The plan of a dry run: what the write would store and what the controllers would do after it
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
  /** Top-level fields of the deployment that the write would change, with stored and new values. */
  readonly changes: readonly FieldChange[]
  /** The nodes that replicas without a node would get now, and for every other node the reasons against it. */
  readonly placement: PlacementExplanation
  /** The steps that the controllers would take after the write, in order. */
  readonly steps: readonly PlanStep[]
  /** How the write would recreate running replicas: order, parallelism and lowest ready count. Absent for a create. */
  readonly rollout?: RolloutPlanned
}

export interface PlannedRollout {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
  /** Replicas that still have no node at the end of the rollout. */
  readonly unplaced: number
}

/** The input of a plan: the record that would be stored, and the record that it would replace. */
export interface PlanQuestion {
  /** The stored deployment. Undefined for a create; the same object as `next` if the write would change nothing. */
  readonly stored: StoredDeployment | undefined
  readonly next: StoredDeployment
  /** True if the write is a restart. */
  readonly restart: boolean
}

export interface PlanDeps extends PlacementDeps {
  /**
   * Simulates what the controllers would do after the write, without blocking other requests. The duration
   * grows with the number of rollout steps. Undefined if the tenant has too many plans in progress.
   */
  planAhead(tenant: TenantId, question: PlanQuestion): Promise<PlannedRollout | undefined>
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

/** Makes the plan of a dry run, once, after the transaction; the transaction itself may run several times. */
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
