// Which deployment does a path mean: `{name}` is a name or a `dep_` uid. DECISIONS 1.

import { isDeploymentUid, type TenantId } from '@holdfast/contract'
import { type Addressed, checkFound } from '@holdfast/core'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { requireLiveCaller } from '../../require-live-caller.ts'

/** A name cannot hold an underscore, so a text is never both. */
export const addressedBy = (text: string): Addressed =>
  isDeploymentUid(text) ? { uid: text } : { name: text }

/** The name to look the record up by; a uid that nobody has names nothing. */
export function nameOf(
  store: Pick<Store, 'list'>,
  tenant: TenantId,
  addressed: Addressed,
): string | undefined {
  if ('name' in addressed) return addressed.name
  return store.list(deployments, tenant).find(({ record }) => record.uid === addressed.uid)?.record.spec.name
}

/** The record that a path means, from the cache. A foreign one and a missing one give the same answer (DECISIONS 3). */
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

/** The record that a write is about to change, for a caller who may: both are compared at commit. */
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
