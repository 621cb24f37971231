// The response to a deployment write: `{deployment, alterations, warnings}`, and for a dry run also its `plan`.

import type { Alteration, DeploymentRecord, TenantId, Warning } from '@holdfast/contract'
import { done, limited, type Outcome } from '../../caller.ts'
import { makePlan, type Plan, type PlanDeps, type PlanQuestion } from './plan.ts'

export interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  /** The plan of the write; present only in a dry run, which stores nothing. */
  readonly plan?: Plan
}

/** The result of the transaction of a write. The plan of a dry run is made afterwards, from `toPlan`. */
export interface DecidedWrite extends Omit<Written, 'plan'> {
  readonly toPlan?: PlanQuestion
}

const RETRY_SECONDS = 5

export async function withPlan(
  deps: PlanDeps,
  tenant: TenantId,
  outcome: Outcome<DecidedWrite>,
): Promise<Outcome<Written>> {
  if (!outcome.ok) return outcome
  const { toPlan, ...written } = outcome.value
  if (toPlan === undefined) return done(written)
  const plan = await makePlan(deps, tenant, toPlan)
  return plan === undefined ? limited('Authorization', RETRY_SECONDS) : done({ ...written, plan })
}
