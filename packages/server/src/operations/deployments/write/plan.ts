// The plan of a deployment write: what the write would store, and what the controllers would do after it
// (docs/design/rollouts.md#dry-run-plans).

import {
  canonicalJson,
  type DeploymentSpec,
  defined,
  type Effects,
  type JobId,
  type Json,
  type JsonObject,
  type PlanStep,
  type RolloutPlanned,
  type TenantId,
} from '@holdfast/contract'
import { desiredReplicas } from '@holdfast/core'
import type { PlacementExplanation } from '@holdfast/core/placement/explain-placement'
import { deployments, jobs } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { DryWrite } from '../../dry-runs.ts'
import { explainJobPlacement, explainTenantPlacement, type PlacementDeps } from '../explain-placement.ts'
import { deploymentView } from '../read/deployment-view.ts'

export interface Plan {
  readonly action: 'create' | 'update' | 'none'
  readonly revision: number
  /** Top-level fields of the deployment whose stored value the dry run would change. */
  readonly changes: readonly FieldChange[]
  /** The nodes that replicas without a node would get now, and for every other node the reasons against it. */
  readonly placement: PlacementExplanation
  /** The steps that the controllers would take after the write, in order. */
  readonly steps: readonly PlanStep[]
  readonly effects: Effects
  /** Running replicas that would be recreated; absent for a create. */
  readonly rollout?: RolloutPlanned
}

/** `before` has the records before the write, and `after` those after it. */
export function makePlan(
  before: PlacementDeps,
  tenant: TenantId,
  name: string,
  { change: { steps, effects, rollouts }, after }: Pick<DryWrite<unknown>, 'change' | 'after'>,
): Plan {
  const address = inTenant(tenant, deployments, name)
  const stored = before.store.get(address)?.record
  const next = after.get(address)?.record
  if (next === undefined) throw new TypeError(`the dry run has not written ${name}`)
  const { desired, placed } = deploymentView(before.store, tenant, next).status.replicas
  const unplaced = effects.unplaced.find(({ deployment }) => deployment === name)?.replicas ?? 0
  const missing = stored === undefined ? desiredReplicas(next) : Math.max(unplaced, desired - placed)
  const placement = explainTenantPlacement(before, tenant, next, missing)
  if (stored === undefined) return { action: 'create', revision: 1, changes: [], placement, steps, effects }
  return {
    action: next.revision === stored.revision ? 'none' : 'update',
    revision: next.revision,
    changes: changedFields(stored.spec, next.spec),
    placement,
    steps,
    effects,
    ...defined({ rollout: rollouts.get(name) }),
  }
}

/** The plan of a new job, in the same form. */
export function makeJobPlan(
  before: PlacementDeps,
  tenant: TenantId,
  id: JobId,
  { change: { steps, effects }, after }: Pick<DryWrite<unknown>, 'change' | 'after'>,
): Plan {
  const job = after.get(inTenant(tenant, jobs, id))?.record
  if (job === undefined) throw new TypeError(`the dry run has not written ${id}`)
  const placement = explainJobPlacement(before, tenant, job)
  return { action: 'create', revision: 1, changes: [], placement, steps, effects }
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

export function changedFields(before: DeploymentSpec, after: DeploymentSpec): FieldChange[] {
  const was: JsonObject = { ...before }
  const will: JsonObject = { ...after }
  const fields = [...new Set([...Object.keys(was), ...Object.keys(will)])]
  return fields
    .map((field) => ({ field, from: was[field] ?? null, to: will[field] ?? null }))
    .filter(({ from, to }) => canonicalJson(from) !== canonicalJson(to))
}
