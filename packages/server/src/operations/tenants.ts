// Tenants: make, read, change, remove. DECISIONS 1, 2 and 8. A tenant's secrets mount is made before its record, so that
// a tenant that exists can always keep a secret.

import {
  decode,
  type Infer,
  integer,
  isTenantId,
  type Json,
  map,
  object,
  optional,
  QUOTA_KINDS,
  type Rejection,
  string,
  type Tenant,
  type TenantId,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../ports/clock.ts'
import type { SecretsWriter } from '../ports/secrets-store.ts'
import { removals, type StoredTenant, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, type Transaction } from '../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from './caller.ts'
import { checkIfMatch } from './check-if-match.ts'
import { checkShape } from './check-shape.ts'
import { type IdempotentAnswers, type Kept, keepOnce } from './idempotency.ts'
import { recordAudit, recordEvent } from './record-write.ts'

export const newTenantShape = object({ name: string({ pattern: '^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$' }) })
export const tenantPatchShape = object({
  name: optional(string()),
  quotas: optional(map(integer({ minimum: 0 }))),
})

export interface TenantDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: Pick<SecretsWriter, 'provisionTenant'>
  readonly answers: IdempotentAnswers
}

const NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const NAME_FORM = { accepted: 'lowercase letters, digits and hyphens, at most 63, beginning with a letter' }

export function tenantView({ v: _version, ...tenant }: StoredTenant): Tenant {
  return tenant
}

export async function createTenant(
  { store, clock, ids, secrets, answers }: TenantDeps,
  caller: Caller,
  body: Json,
  kept: Kept<Tenant>,
): Promise<Outcome<Tenant>> {
  const rejections = checkShape(newTenantShape, body)
  if (rejections.length > 0) return refused(...rejections)
  const { name } = decode(newTenantShape, body)
  const misnamed = checkName(name)
  if (misnamed !== undefined) return refused(misnamed)
  const id = ids.uuid() as TenantId
  const mounted = await secrets.provisionTenant(id)
  if (mounted.kind !== 'ok') return refused(reject('secrets_store_unavailable', 'secretsStore', undefined))
  const tenant: Tenant = {
    id,
    name,
    platform: false,
    quotas: {},
    revision: 1,
    createdAt: timestamp(clock),
    deleting: false,
  }
  return store.transact((transaction) => {
    transaction.get(globally(tenants, id))
    putTenant(transaction, tenant)
    recordAudit(transaction, clock, caller, { action: 'tenants:create', subject: { kind: 'Tenant', name } })
    recordEvent(transaction, clock, id, created(tenant))
    return keepOnce(answers, transaction, caller, kept, tenant)
  })
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

type TenantPatch = Infer<typeof tenantPatchShape>

export async function changeTenant(
  { store, clock }: TenantDeps,
  caller: Caller,
  body: Json,
  ifMatch: string | undefined,
): Promise<Outcome<Tenant>> {
  const rejections = checkShape(tenantPatchShape, body)
  if (rejections.length > 0) return refused(...rejections)
  const patch = decode(tenantPatchShape, body)
  const faults = checkPatch(patch)
  if (faults.length > 0) return refused(...faults)
  return store.transact((transaction) => {
    const stored = transaction.get(globally(tenants, caller.tenant))
    if (stored === undefined)
      return { kind: 'refuse', result: refused(reject('tenant_not_found', 'tenant', caller.tenant)) }
    const conflict = checkIfMatch(ifMatch, stored.revision)
    if (conflict !== undefined) return { kind: 'refuse', result: refused(conflict) }
    const quotas = { ...stored.quotas, ...patch.quotas }
    const tenant = {
      ...tenantView(stored),
      name: patch.name ?? stored.name,
      quotas,
      revision: stored.revision + 1,
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

/** Marks it; the tenant's tokens are void from then on and the removal goes on by itself. */
export async function removeTenant(
  { store, clock }: TenantDeps,
  caller: Caller,
  ifMatch: string | undefined,
): Promise<Outcome<Tenant>> {
  return store.transact((transaction) => {
    const stored = transaction.get(globally(tenants, caller.tenant))
    if (stored === undefined)
      return { kind: 'refuse', result: refused(reject('tenant_not_found', 'tenant', caller.tenant)) }
    const conflict = checkIfMatch(ifMatch, stored.revision)
    if (conflict !== undefined) return { kind: 'refuse', result: refused(conflict) }
    if (stored.platform) {
      const rejection = reject('permission_denied', 'tenant', stored.id, {
        accepted: 'any tenant but the platform itself',
      })
      return { kind: 'refuse', result: refused(rejection) }
    }
    const tenant = { ...tenantView(stored), deleting: true, revision: stored.revision + 1 }
    putTenant(transaction, tenant)
    transaction.put(globally(removals, tenant.id), { v: 1, tenant: tenant.id, name: null })
    recordAudit(transaction, clock, caller, {
      action: 'tenants:remove',
      subject: { kind: 'Tenant', name: tenant.name },
    })
    return { kind: 'commit', result: done(tenant) }
  })
}

function checkPatch({ name, quotas = {} }: TenantPatch): Rejection[] {
  const misnamed = name === undefined ? undefined : checkName(name)
  const limits = Object.entries(quotas).flatMap(([kind, limit]) => {
    const known = QUOTA_KINDS.some((each) => each === kind)
    if (!known)
      return [reject('field_unknown', `quotas.${kind}`, limit, { accepted: QUOTA_KINDS.join(', ') })]
    return limit < 0 || !Number.isSafeInteger(limit)
      ? [reject('field_type_invalid', `quotas.${kind}`, limit, { accepted: 'a whole number from 0' })]
      : []
  })
  return misnamed === undefined ? limits : [misnamed, ...limits]
}

function checkName(name: string): Rejection | undefined {
  if (name === '') return reject('name_required', 'name', name)
  return NAME.test(name) ? undefined : reject('field_type_invalid', 'name', name, NAME_FORM)
}

function putTenant(transaction: Transaction, tenant: Tenant): void {
  transaction.put(globally(tenants, tenant.id), { v: 1, ...tenant })
}

export const knownTenant = (store: Pick<Store, 'get'>, id: string): boolean =>
  isTenantId(id) && store.get(globally(tenants, id)) !== undefined
