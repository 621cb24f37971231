// Creates, reads, changes and deletes tenants. A tenant's secrets mount is created before its record, so that every existing
// tenant can store secrets; a mount without a record is removed (new-mounts.ts).

import {
  asTenantId,
  canonicalJson,
  childPath,
  decode,
  isJsonObject,
  isTenantId,
  type Json,
  newTenantShape,
  QUOTA_KINDS,
  type Rejection,
  TENANT_NAME,
  type Tenant,
  type TenantId,
  tenantPatchShape,
} from '@holdfast/contract'
import { reject, safeKey } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import { removals, type StoredTenant, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { type IdempotentAnswers, type Kept, keepOnce } from '../idempotency.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { announceMount, consumeMount } from './new-mounts.ts'
import { checkNameFree, claimTenantName, releaseTenantName } from './tenant-names.ts'

export interface TenantDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: Pick<SecretsWriter, 'provisionTenant'>
  readonly answers: IdempotentAnswers
}

const NAME_FORM = {
  accepted:
    'lowercase letters, digits and hyphens, at most 63, beginning with a letter, not of the form of an id',
}

export function tenantView({ v: _version, ...tenant }: StoredTenant): Tenant {
  return tenant
}

export async function createTenant(
  { store, clock, ids, secrets, answers }: TenantDeps,
  caller: Caller,
  body: Json,
  kept: Kept<Tenant>,
): Promise<Outcome<Tenant>> {
  const rejections = checkShape(newTenantShape, body, { checks: { name: checkName } })
  if (rejections.length > 0) return refused(...rejections)
  const { name } = decode(newTenantShape, body)
  const taken = await checkNameFree(store, name)
  if (taken !== undefined) return refused(taken)
  const id = asTenantId(ids.uuid())
  const announced = await store.transact<Outcome<undefined>>((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    announceMount(transaction, clock, id)
    return { kind: 'commit', result: done(undefined) }
  })
  if (!announced.ok) return announced
  const mounted = await secrets.provisionTenant(id)
  if (mounted.kind !== 'ok') return refused(unmounted())
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    if (!consumeMount(transaction, id)) return { kind: 'abort', result: refused(unmounted()) }
    const claimed = claimTenantName(store, transaction, name, id)
    if (claimed !== undefined) return { kind: 'abort', result: refused(claimed) }
    transaction.get(globally(tenants, id))
    return keepOnce(
      answers,
      transaction,
      caller,
      kept,
      putNewTenant(transaction, clock, caller, { id, name }),
    )
  })
}

const unmounted = (): Rejection => reject('secrets_store_unavailable', 'secretsStore', undefined)

/** Writes the record of a tenant whose name is claimed and whose secrets mount exists, with audit entry and event. */
export function putNewTenant(
  transaction: Transaction,
  clock: Clock,
  caller: Caller,
  { id, name }: Pick<Tenant, 'id' | 'name'>,
): Tenant {
  const state = { platform: false, quotas: {}, revision: 1, deleting: false }
  const tenant: Tenant = { id, name, ...state, createdAt: timestamp(clock) }
  putTenant(transaction, tenant)
  recordAudit(transaction, clock, caller, { action: 'tenants:create', subject: { kind: 'Tenant', name } })
  recordEvent(transaction, clock, id, created(tenant))
  return tenant
}

function created({ id, name }: Tenant) {
  return {
    type: 'tenant.created' as const,
    severity: 'info' as const,
    subject: { kind: 'Tenant', name, uid: id },
    cause: '1',
    reason: 'created',
    message: `Tenant ${name} was created.`,
    data: {},
  }
}

export function getTenant({ store }: Pick<TenantDeps, 'store'>, id: TenantId): Outcome<Tenant> {
  const found = store.get(globally(tenants, id))
  return found === undefined
    ? refused(reject('tenant_not_found', 'tenant', id))
    : done(tenantView(found.record))
}

export function listTenants({ store }: Pick<TenantDeps, 'store'>): Tenant[] {
  return store
    .list(tenants)
    .map(({ record }) => tenantView(record))
    .sort((left, right) =>
      left.name < right.name ? -1 : left.name > right.name ? 1 : left.id < right.id ? -1 : 1,
    )
}

export async function changeTenant(
  { store, clock }: TenantDeps,
  caller: Caller,
  body: Json,
  ifMatch: string | undefined,
): Promise<Outcome<Tenant>> {
  const rejections = checkShape(tenantPatchShape, body, {
    checks: { name: checkName, quotas: checkQuotaLimits },
  })
  if (rejections.length > 0) return refused(...rejections)
  const patch = decode(tenantPatchShape, body)
  return store.transact<Outcome<Tenant>>((transaction) => {
    const found = findToChange(transaction, caller, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const stored = found.value
    const quotas = { ...stored.quotas, ...patch.quotas }
    const changed = { ...tenantView(stored), name: patch.name ?? stored.name, quotas }
    // A request that changes nothing succeeds without a new revision.
    if (canonicalJson(changed) === canonicalJson(tenantView(stored)))
      return { kind: 'abort', result: done(changed) }
    const tenant = { ...changed, revision: stored.revision + 1 }
    if (tenant.name !== stored.name) {
      const taken = claimTenantName(store, transaction, tenant.name, tenant.id)
      if (taken !== undefined) return { kind: 'abort', result: refused(taken) }
      releaseTenantName(transaction, stored.name, tenant.id)
    }
    putTenant(transaction, tenant)
    recordAudit(transaction, clock, caller, {
      action: 'tenants:change',
      subject: { kind: 'Tenant', name: tenant.name },
      revision: tenant.revision,
    })
    return { kind: 'commit', result: done(tenant) }
  })
}

/** Marks the tenant as being deleted, which invalidates its tokens; a background loop finishes the deletion. */
export async function removeTenant(
  { store, clock }: TenantDeps,
  caller: Caller,
  ifMatch: string | undefined,
): Promise<Outcome<Tenant>> {
  return store.transact<Outcome<Tenant>>((transaction) => {
    const found = findToChange(transaction, caller, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const stored = found.value
    if (stored.platform) {
      const rejection = reject('permission_denied', 'tenant', stored.id, {
        accepted: 'any tenant but the platform itself',
      })
      return { kind: 'abort', result: refused(rejection) }
    }
    const tenant = { ...tenantView(stored), deleting: true, revision: stored.revision + 1 }
    putTenant(transaction, tenant)
    const removal = globally(removals, tenant.id)
    transaction.put(removal, transaction.get(removal) ?? { v: 1, tenant: tenant.id, name: null })
    recordAudit(transaction, clock, caller, {
      action: 'tenants:remove',
      subject: { kind: 'Tenant', name: tenant.name },
    })
    return { kind: 'commit', result: done(tenant) }
  })
}

/** Finds the caller's tenant; rejects a revoked token and an outdated If-Match. */
function findToChange(
  transaction: Transaction,
  caller: Caller,
  ifMatch: string | undefined,
): Outcome<StoredTenant> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const stored = transaction.get(globally(tenants, caller.tenant))
  if (stored === undefined) return refused(reject('tenant_not_found', 'tenant', caller.tenant))
  const conflict = checkIfMatch(ifMatch, stored.revision)
  return conflict === undefined ? done(stored) : refused(conflict)
}

/** The most characters of an unknown quota kind that a rejection quotes. */
const MAX_KIND = 256

function checkQuotaLimits(quotas: Json): Rejection[] {
  const given = Object.entries(isJsonObject(quotas) ? quotas : {})
  const [unknown] = given.filter(([kind]) => !QUOTA_KINDS.some((each) => each === kind))
  // Only the first unknown quota kind is reported, because its rejection already lists the valid kinds.
  if (unknown !== undefined) return [unknownQuota(...unknown)]
  return given
    .filter(([, limit]) => !Number.isSafeInteger(limit) || Number(limit) < 0)
    .map(([kind, limit]) =>
      reject('field_type_invalid', childPath('quotas', kind), limit, { accepted: 'a whole number from 0' }),
    )
}

function unknownQuota(kind: string, limit: Json): Rejection {
  const field = childPath('quotas', safeKey(kind.slice(0, MAX_KIND)))
  return reject('field_unknown', field, limit, { accepted: QUOTA_KINDS.join(', ') })
}

function checkName(name: Json): Rejection | undefined {
  if (name === '') return reject('name_required', 'name', name)
  return typeof name === 'string' && TENANT_NAME.test(name) && !isTenantId(name)
    ? undefined
    : reject('field_type_invalid', 'name', name, NAME_FORM)
}

function putTenant(transaction: Transaction, tenant: Tenant): void {
  transaction.put(globally(tenants, tenant.id), { v: 1, ...tenant })
}
