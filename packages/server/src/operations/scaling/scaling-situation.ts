// The facts on which a scaling policy decides, from the stored records and the usage of the replicas. The loop and the
// endpoint use the same, so that people see what the loop sees.

import { ownerOf, type TenantId } from '@holdfast/contract'
import { requestOf, type ScalingFacts, stableAssignments } from '@holdfast/core'
import type { Quotas } from '../../quotas/quotas.ts'
import {
  nodes,
  type StoredDeployment,
  type StoredPlacement,
  type StoredScaling,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'
import { deploymentView } from '../deployments/read/deployment-view.ts'
import type { DeploymentUsage } from '../usage/replica-usage.ts'

export interface SituationDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly tenant: TenantId
  /** Number of further containers that the tenant's quota allows. */
  readonly room: number
}

export function scalingSituation(
  { store, tenant, room }: SituationDeps,
  stored: StoredDeployment,
  { policy, desired }: StoredScaling,
  { mean }: Pick<DeploymentUsage, 'mean'>,
): ScalingFacts {
  const { status } = deploymentView(store, tenant, stored)
  const placement = ownPlacement(store, tenant, stored)
  return {
    desired,
    isStopped: stored.deleting || stored.spec.replicas === 0,
    ready: mean.ready,
    measured: mean.measured,
    usage: policy.metric === 'cpu' ? mean.cpuMillis : mean.memoryBytes,
    request: requestOf(stored.spec, policy.metric),
    rollout: rolloutOf(placement, status.replicas),
    isDraining: hasDrained(store, tenant, placement),
    unplaced: Math.max(0, status.replicas.desired - status.replicas.placed),
    room,
  }
}

/** The placement without the replicas of a canary, which the policy neither counts nor measures. */
function ownPlacement(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { uid }: StoredDeployment,
): StoredPlacement | undefined {
  const placement = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record
  return placement && { ...placement, assignments: [...stableAssignments(placement.assignments)] }
}

/** A rollback that is complete stays in the record until another revision is stored, and keeps no policy waiting. */
function rolloutOf(
  placement: StoredPlacement | undefined,
  { desired, ready }: { readonly desired: number; readonly ready: number },
): ScalingFacts['rollout'] {
  const { rollout, lastGood, assignments = [] } = placement ?? {}
  if (rollout === undefined) return 'none'
  if (rollout.state === 'paused') return 'paused'
  const isReturned = assignments.every(({ templateHash }) => templateHash === lastGood?.templateHash)
  return rollout.state === 'rolling_back' && isReturned && ready >= desired ? 'none' : 'under_way'
}

const hasDrained = (
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  placement: StoredPlacement | undefined,
): boolean =>
  (placement?.assignments ?? []).some(
    ({ nodeId }) => store.get(inTenant(tenant, nodes, nodeId))?.record.draining === true,
  )

/** Number of further containers that the tenant's quota allows; negative if it is exceeded. */
export function containerRoom(quotas: Pick<Quotas, 'list'>, tenant: TenantId): number {
  const quota = quotas.list(tenant).items.find(({ kind }) => kind === 'containers')
  return quota === undefined ? 0 : quota.limit - quota.used
}
