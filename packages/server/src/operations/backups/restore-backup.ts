// POST /api/v1/backups/{id}/restore: stores the spec of a backup again, as an update of every field or, if the deployment
// is gone, as a new deployment. Both pass ordinary admission, because the platform may have changed since the backup.

import { defined, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { deployments, type StoredBackup } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, type Outcome, refused } from '../caller.ts'
import type { DeploymentDeps } from '../deployments/deps.ts'
import { createDeployment } from '../deployments/write/create-deployment.ts'
import { everyField, type RollbackOptions } from '../deployments/write/rollback-deployment.ts'
import { updateDeployment } from '../deployments/write/update-deployment.ts'
import type { Written } from '../deployments/write/written.ts'
import { readBackup } from './read-backups.ts'

/** The most attempts, each after the deployment was created or removed at the same moment. */
const MAX_ATTEMPTS = 4

export async function restoreBackup(
  deps: DeploymentDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...kept }: RollbackOptions,
): Promise<Outcome<Written>> {
  const { store } = deps
  const found = await readBackup(store, caller.tenant, id)
  if (!found.ok) return found
  const { stored, content } = found.value
  const { deploymentName, deploymentRevision: revision, anchored: pins = {} } = stored
  const { spec, digest, scalingPolicy } = content
  const backup = { ...stored, secrets: spec.secrets, pins, ...defined({ scalingPolicy }) }
  for (let attempt = 1; ; attempt += 1) {
    const isUpdate = exists(store, caller.tenant, stored)
    const outcome = isUpdate
      ? await updateDeployment(deps, caller, deploymentName, everyField(spec), {
          ifMatch,
          rollback: { ...kept, revision, digest, backup },
        })
      : (refuseMissing(ifMatch) ??
        (await createDeployment(deps, caller, { ...spec }, { ...kept, restored: { digest, backup } })))
    if (outcome.ok || attempt === MAX_ATTEMPTS) return outcome
    await store.fresh()
    if (exists(store, caller.tenant, stored) === isUpdate) return outcome
  }
}

/** A deployment that is being deleted cannot be updated, and its name is not free yet. */
function exists(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { deploymentName }: Pick<StoredBackup, 'deploymentName'>,
): boolean {
  return store.get(inTenant(tenant, deployments, deploymentName))?.record.deleting === false
}

/** `If-Match` names a revision of the deployment, which has none if it is gone. */
function refuseMissing(ifMatch: string | undefined): Outcome<never> | undefined {
  if (ifMatch === undefined) return undefined
  return refused(
    reject('revision_conflict', 'If-Match', ifMatch, { etag: 'none, because the deployment does not exist' }),
  )
}
