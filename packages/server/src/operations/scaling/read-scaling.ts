// GET /deployments/{name}/scaling: the policy, what it wants now, and why it does not act.

import type { Scaling, ScalingStatus, TenantId } from '@holdfast/contract'
import { decideScaling, desiredReplicas, EMPTY_WINDOW, explainScaling, reject } from '@holdfast/core'
import type { Quotas } from '../../quotas/quotas.ts'
import { nodes, type StoredDeployment, type StoredScaling } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome, type Refused, refused } from '../caller.ts'
import { findStored } from '../deployments/read/find-deployment.ts'
import { readDeploymentUsage, type UsageDeps } from '../usage/replica-usage.ts'
import { containerRoom, scalingSituation } from './scaling-situation.ts'

export interface ReadScalingDeps extends UsageDeps {
  readonly quotas: Pick<Quotas, 'list'>
}

export async function readScaling(
  deps: ReadScalingDeps,
  tenant: TenantId,
  path: string,
): Promise<Outcome<Scaling>> {
  await deps.store.fresh()
  const found = findStored(deps.store, tenant, path)
  if (!found.ok) return found
  const { scaling } = found.value
  return scaling === undefined
    ? policyNotFound(path)
    : done(await scalingView(deps, tenant, found.value, scaling))
}

export const policyNotFound = (path: string): Refused =>
  refused(reject('scaling_policy_not_found', 'name', path))

export async function scalingView(
  deps: ReadScalingDeps,
  tenant: TenantId,
  stored: StoredDeployment,
  scaling: StoredScaling,
): Promise<Scaling> {
  const { policy, revision, createdAt, updatedAt } = scaling
  const status = await scalingStatus(deps, tenant, stored, scaling)
  return { deploymentName: stored.spec.name, ...policy, revision, createdAt, updatedAt, status }
}

/**
 * Decides as the loop would now. Only the process that owns the shard knows the usage since the delay began, so lower
 * usage is always shown as waiting for the delay.
 */
export async function scalingStatus(
  deps: ReadScalingDeps,
  tenant: TenantId,
  stored: StoredDeployment,
  scaling: StoredScaling,
): Promise<ScalingStatus> {
  const { store, quotas } = deps
  const usage = await readDeploymentUsage(deps, tenant, stored.uid, 0)
  const facts = scalingSituation(
    { store, tenant, room: containerRoom(quotas, tenant) },
    stored,
    scaling,
    usage,
  )
  const { decision } = decideScaling(scaling.policy, facts, EMPTY_WINDOW, 0)
  return {
    desired: desiredReplicas(stored),
    wanted: decision.wanted,
    measuredPercent: decision.measuredPercent,
    ready: facts.ready,
    measured: facts.measured,
    unreachable: usage.unreachable.map((id) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id),
    reason: decision.reason,
    message: explainScaling(scaling.policy, facts, decision),
    scaledAt: scaling.scaledAt ?? null,
  }
}
