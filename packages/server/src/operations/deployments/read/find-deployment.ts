// Finds the deployment that a request path identifies, either by name or by `dep_` uid.

import { isDeploymentUid, type TenantId } from '@holdfast/contract'
import { type Addressed, checkFound } from '@holdfast/core'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { requireLiveCaller } from '../../preconditions.ts'

/** Whether a text is a name or a uid. A name cannot contain an underscore, so a text is never both. */
export const addressedBy = (text: string): Addressed =>
  isDeploymentUid(text) ? { uid: text } : { name: text }

/** The name under which a deployment is stored; undefined for an unknown uid. */
export function nameOf(
  store: Pick<Store, 'list'>,
  tenant: TenantId,
  addressed: Addressed,
): string | undefined {
  if ('name' in addressed) return addressed.name
  return store.list(deployments, tenant).find(({ record }) => record.uid === addressed.uid)?.record.spec.name
}

/** A deployment record from the cache. Another tenant's deployment and a missing one get the same answer. */
export function findStored(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  path: string,
): Outcome<StoredDeployment> {
  const addressed = addressedBy(path)
  const name = nameOf(store, tenant, addressed)
  const found = name === undefined ? undefined : store.get(inTenant(tenant, deployments, name))
  return found === undefined ? refused(...checkFound(addressed, undefined)) : done(found.record)
}

/** The deployment record that a write changes. The record and the caller's token are compared at commit. */
export function findToChange(
  store: Pick<Store, 'list'>,
  transaction: Transaction,
  caller: Caller,
  path: string,
): Outcome<StoredDeployment> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const addressed = addressedBy(path)
  const name = nameOf(store, caller.tenant, addressed)
  const stored = name === undefined ? undefined : transaction.get(inTenant(caller.tenant, deployments, name))
  const missing = checkFound(addressed, stored)
  return stored === undefined || missing.length > 0 ? refused(...missing) : done(stored)
}
