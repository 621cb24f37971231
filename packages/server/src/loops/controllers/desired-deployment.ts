// What a rollout is planned from: the wish of a stored deployment, and what the cache and the tenant's view know of its
// replicas, its nodes and what it depends on. DECISIONS 4 and 5.

import type { TenantId } from '@holdfast/contract'
import {
  type DesiredDeployment,
  isStateful,
  type ReplicaFacts,
  type UnmetDependency,
  unmetDependencies,
  updateRulesOf,
} from '@holdfast/core'
import { isLost } from '../../liveness/node-status.ts'
import { targetOf } from '../../scheduling/revision-target.ts'
import { deployments, observations, placements, type StoredDeployment } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { DISPLACED_AT_ONCE, type Displacement } from './find-displaced.ts'
import type { TenantView } from './tenant-view.ts'

type ReadStore = Pick<Store, 'get'>

/** So many numbers are wished: of what is being deleted, none. */
export const desiredCount = ({ deleting, spec }: Pick<StoredDeployment, 'deleting' | 'spec'>): number =>
  deleting ? 0 : spec.replicas

export function desiredOf(
  stored: StoredDeployment,
  unmet: readonly UnmetDependency[],
  { dispositions }: Pick<Displacement, 'dispositions'>,
): DesiredDeployment {
  const { spec, deleting } = stored
  const update = updateRulesOf(spec)
  const most = dispositions.size === 0 ? update.parallelism : Math.min(update.parallelism, DISPLACED_AT_ONCE)
  return {
    ...{ replicas: spec.replicas, deleting, target: targetOf(stored), gated: unmet.length > 0 },
    update: { ...update, parallelism: most },
    stateful: isStateful(spec),
  }
}

export function replicaFacts(
  store: ReadStore,
  tenant: TenantId,
  view: Pick<TenantView, 'dispositionOf' | 'roomBeside'>,
  { uid }: Pick<StoredDeployment, 'uid'>,
  { dispositions }: Pick<Displacement, 'dispositions'>,
): ReplicaFacts {
  return {
    dispositionOf: (id) => dispositions.get(id) ?? view.dispositionOf(id),
    seen: (id) => store.get(inTenant(tenant, observations, id))?.record,
    room: view.roomBeside(uid),
  }
}

export function dependenciesOf(
  store: ReadStore,
  tenant: TenantId,
  { spec }: Pick<StoredDeployment, 'spec'>,
): UnmetDependency[] {
  if (spec.dependsOn === undefined) return []
  return unmetDependencies(spec, (name) => {
    const other = store.get(inTenant(tenant, deployments, name))?.record
    if (other === undefined) return undefined
    return {
      ...{ replicas: other.spec.replicas, deleting: other.deleting },
      assignments: store.get(inTenant(tenant, placements, other.uid))?.record.assignments ?? [],
      seen: (id) => store.get(inTenant(tenant, observations, id))?.record,
      isLost: (id) => isLost(store, tenant, id),
    }
  })
}
