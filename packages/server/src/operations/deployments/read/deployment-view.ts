// A stored deployment as clients see it: the record with a status derived from its placement and the agents'
// observations. All records are found in the cache by id, without a scan.

import { type DeploymentRecord, type DeploymentStatus, ownerOf, type TenantId } from '@holdfast/contract'
import { deriveStatus, residencyLabels } from '@holdfast/core'
import { isLost } from '../../../liveness/node-status.ts'
import { observations, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import { canaryView } from '../canary/end-canary.ts'

export function deploymentView(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  stored: StoredDeployment,
): DeploymentRecord {
  const { spec, uid, revision, specHash, createdAt, updatedAt } = stored
  const status = deploymentStatus(store, tenant, stored)
  const labels = residencyLabels(spec.placement?.residency)
  const shown = { uid, revision, specHash, createdAt, updatedAt, status, residencyLabels: labels }
  return { ...spec, ...shown, ...canaryView(stored.canary) }
}

export function deploymentStatus(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { spec, uid, revision, deleting, digest, scaling }: StoredDeployment,
): DeploymentStatus {
  return deriveStatus(spec, {
    deleting,
    revision,
    scaling,
    imageDigest: digest,
    placed: store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record,
    observed: (id) => store.get(inTenant(tenant, observations, id))?.record,
    isLost: (id) => isLost(store, tenant, id),
  })
}
