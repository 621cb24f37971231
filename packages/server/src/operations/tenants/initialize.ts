// `holdfast-server init`: creates the platform tenant and its first token, once; `--reissue` replaces a lost token. As
// for every tenant, the secrets mount is created before the tenant's record. The first tenant of users can be created in the
// same transaction.

import { asTenantId, type TenantId } from '@holdfast/contract'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import { platform, type StoredToken, tenantNames, tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { recordAudit } from '../record-write.ts'
import { claimTenantName } from './tenant-names.ts'
import { putNewTenant } from './tenants.ts'
import { mintToken } from './tokens.ts'

export type Initialized =
  | { readonly kind: 'done'; readonly tenant: TenantId; readonly token: string; readonly expiresAt: string }
  | { readonly kind: 'already'; readonly tenant: TenantId }
  | { readonly kind: 'secrets_store_unavailable' }

export interface InitializeDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: Pick<SecretsWriter, 'provisionTenant'>
}

export interface InitializeOptions {
  readonly reissue: boolean
  /** Name of a tenant that is created together with the platform; an existing platform gets none. */
  readonly firstTenant?: string
}

const PLATFORM_NAME = 'platform'
const TOKEN_NAME = 'first platform token'
const VALID_MS = 365 * 24 * 3_600_000

export async function initialize(
  deps: InitializeDeps,
  { reissue, firstTenant }: InitializeOptions,
): Promise<Initialized> {
  const { store } = deps
  await store.fresh()
  const existing = platformOf(store)
  if (existing !== undefined && !reissue) return { kind: 'already', tenant: existing }
  const tenant = existing ?? asTenantId(deps.ids.uuid())
  const first = existing === undefined && firstTenant !== undefined ? newTenant(deps, firstTenant) : undefined
  for (const id of [tenant, ...(first === undefined ? [] : [first.id])])
    if ((await deps.secrets.provisionTenant(id)).kind !== 'ok') return { kind: 'secrets_store_unavailable' }
  return store.transact<Initialized>((transaction) => {
    // The record of the platform's id has one fixed key, so of two concurrent `init` runs only one creates a platform.
    const marker = transaction.get(globally(platform, 'id'))
    if (marker !== undefined && marker.tenant !== tenant) {
      return { kind: 'abort', result: { kind: 'already', tenant: marker.tenant } }
    }
    if (marker === undefined) createPlatform(deps, transaction, tenant)
    const { record, text } = newToken(deps, tenant)
    for (const { record: old } of store.list(tokens))
      if (isFirst(old, tenant)) transaction.delete(globally(tokens, old.id))
    transaction.put(globally(tokens, record.id), record)
    if (marker === undefined && first !== undefined) createFirstTenant(deps, transaction, record, first)
    const subject = { kind: 'Token', name: record.id }
    recordAudit(transaction, deps.clock, initCaller(record), {
      action: reissue ? 'tokens:reissue' : 'platform:init',
      subject,
    })
    return { kind: 'commit', result: { kind: 'done', tenant, token: text, expiresAt: record.expiresAt } }
  })
}

/**
 * Updates the secrets policies of all tenants after a namespace change. Returns their number; undefined after a failure.
 */
export async function provisionTenants({
  store,
  secrets,
}: Pick<InitializeDeps, 'store' | 'secrets'>): Promise<number | undefined> {
  await store.fresh()
  const known = store.list(tenants)
  for (const { record } of known)
    if ((await secrets.provisionTenant(record.id)).kind !== 'ok') return undefined
  return known.length
}

const platformOf = (store: Store): TenantId | undefined => store.get(globally(platform, 'id'))?.record.tenant

function createPlatform({ clock }: InitializeDeps, transaction: Transaction, id: TenantId): void {
  transaction.put(globally(platform, 'id'), { v: 1, tenant: id })
  transaction.put(globally(tenantNames, PLATFORM_NAME), { v: 1, tenant: id })
  const createdAt = timestamp(clock)
  transaction.put(globally(tenants, id), {
    v: 1,
    id,
    name: PLATFORM_NAME,
    platform: true,
    quotas: {},
    revision: 1,
    createdAt,
    deleting: false,
  })
}

const newTenant = ({ ids }: InitializeDeps, name: string) => ({ id: asTenantId(ids.uuid()), name })

/** The store is empty apart from the platform tenant, so only its name could be taken. */
function createFirstTenant(
  { store, clock }: InitializeDeps,
  transaction: Transaction,
  token: StoredToken,
  tenant: ReturnType<typeof newTenant>,
): void {
  if (claimTenantName(store, transaction, tenant.name, tenant.id) !== undefined)
    throw new Error(`the name ${tenant.name} of the first tenant is taken`)
  putNewTenant(transaction, clock, initCaller(token), tenant)
}

function newToken({ ids, clock }: InitializeDeps, tenant: TenantId) {
  const expiresAt = new Date(clock.now() + VALID_MS).toISOString()
  return mintToken(ids, timestamp(clock), tenant, { name: TOKEN_NAME, role: 'platform-admin', expiresAt })
}

/** Whether a token is the one that `init` created; only that token is replaced, not tokens issued by administrators. */
function isFirst({ tenant, name }: StoredToken, platformId: TenantId): boolean {
  return tenant === platformId && name === TOKEN_NAME
}

/** The caller for the audit entry of `init`: no caller exists yet, so the entry names the new token. */
function initCaller({ tenant, id, role }: StoredToken): Caller {
  return { tenant, token: id, role, onBehalf: false, requestId: 'init' }
}
