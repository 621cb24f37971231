// Finds the admitted workload that owns a placement. All code that needs more of an owner than its placement asks here,
// so a new kind of owner is added in one place. See docs/design/placement.md#owners

import { isFinalPhase, readOwner, type TenantId } from '@holdfast/contract'
import type { ReplicaRequests } from '@holdfast/core'
import { deployments, jobs, type StoredPlacement } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'
import { deploymentRequests } from './canary-spec.ts'

export interface AdmittedWorkload extends ReplicaRequests {
  readonly deleting: boolean
}

/** Undefined if the workload no longer exists, cannot be read, or is of a kind that this version does not know. */
export function findAdmitted(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { owner, name }: Pick<StoredPlacement, 'owner' | 'name'>,
): AdmittedWorkload | undefined {
  const known = readOwner(owner)
  if (known?.kind === 'job') {
    const job = store.get(inTenant(tenant, jobs, known.id))?.record
    return job && { resources: job.spec.resources, deleting: isFinalPhase(job.phase) }
  }
  if (known === undefined) return undefined
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  return stored?.uid === known.id ? { ...deploymentRequests(stored), deleting: stored.deleting } : undefined
}
