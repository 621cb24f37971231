// Issues, lists, revokes and sweeps tokens. A token belongs to one tenant, has a role and must expire. The secret half of a token
// is shown once, and only its hash is stored.

import { hash } from 'node:crypto'
import {
  asTokenId,
  decode,
  type IssuedToken,
  isJsonObject,
  isTokenId,
  type Json,
  newTokenShape,
  type Rejection,
  ROLES,
  type TenantId,
  type Token,
} from '@holdfast/contract'
import { checkQuotas, judgeTokenRoom, reject } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { type StoredToken, TOKEN_ISSUE_ID, tenants, tokenIssues, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { type IdempotentAnswers, type Kept, keepOnce } from '../idempotency.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'

export interface TokenDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly answers: IdempotentAnswers
  readonly quotas: Pick<Quotas, 'limit'>
}

/** The revision of every token, because a token never changes. */
export const TOKEN_REVISION = 1

export function tokenView({ id, name, role, createdAt, expiresAt }: StoredToken): Token {
  return { id, name, role, createdAt, expiresAt }
}

/** Creates a token's record and the text of the token, which is returned to the client once. */
export function mintToken(
  ids: IdSource,
  now: string,
  tenant: TenantId,
  properties: Pick<Token, 'name' | 'role' | 'expiresAt'>,
) {
  const ulid = ids.ulid()
  const secret = Buffer.from(ids.bytes(32)).toString('base64url')
  const secretHash = hash('sha256', secret, 'hex')
  const { name, role, expiresAt } = properties
  const record: StoredToken = {
    v: 1,
    id: asTokenId(`tok_${ulid}`),
    name,
    role,
    createdAt: now,
    expiresAt,
    tenant,
    secretHash,
  }
  return { record, text: `hf_${ulid}_${secret}` }
}

export async function issueToken(
  deps: TokenDeps,
  caller: Caller,
  body: Json,
  kept: Kept<IssuedToken>,
): Promise<Outcome<IssuedToken>> {
  const { store, clock, ids, answers } = deps
  const faults = checkNewToken(body, caller, clock)
  if (faults.length > 0) return refused(...faults)
  const properties = decode(newTokenShape, body)
  const { record, text } = mintToken(ids, timestamp(clock), caller.tenant, properties)
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const platform = transaction.get(globally(tenants, caller.tenant))?.platform === true
    if (record.role === 'platform-admin' && !platform) {
      return { kind: 'abort', result: refused(notForTenants(record.role)) }
    }
    const full = makeRoom(deps, transaction, caller.tenant)
    if (full.length > 0) return { kind: 'abort', result: refused(...full) }
    stageToken(transaction, record)
    recordAudit(transaction, clock, caller, {
      action: 'tokens:issue',
      subject: { kind: 'Token', name: record.id },
    })
    return keepOnce(answers, transaction, caller, kept, { ...tokenView(record), token: text })
  })
}

/** Rejects a token beyond the quota; deletes expired tokens in whose place the new one is. */
function makeRoom(
  { store, clock, quotas }: TokenDeps,
  transaction: Transaction,
  tenant: TenantId,
): Rejection[] {
  // Compared at commit: a token that was issued since the list was read has changed this record.
  transaction.get(inTenant(tenant, tokenIssues, TOKEN_ISSUE_ID))
  const limit = quotas.limit(tenant, 'tokens')
  const { used, surplus } = judgeTokenRoom(ownTokens(store, tenant), limit, clock.now())
  for (const id of surplus) transaction.delete(globally(tokens, id))
  return checkQuotas([{ kind: 'tokens', used, requested: 1, limit }])
}

function stageToken(transaction: Transaction, record: StoredToken): void {
  transaction.put(globally(tokens, record.id), record)
  transaction.put(inTenant(record.tenant, tokenIssues, TOKEN_ISSUE_ID), { v: 1, token: record.id })
}

const MAX_NAME = 63
const NAME = new RegExp(`^[\\x20-\\x7e]{1,${MAX_NAME}}$`)
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** Checks the body of a new token. A role that the caller may not grant is rejected first. */
function checkNewToken(body: Json, { role }: Caller, clock: Clock): Rejection[] {
  const requested = isJsonObject(body) ? body.role : undefined
  return [
    ...(requested === 'platform-admin' && role !== 'platform-admin' ? [notForTenants(requested)] : []),
    ...checkShape(newTokenShape, body, {
      checks: {
        name: checkTokenName,
        role: checkRole,
        expiresAt: (expiresAt) => checkExpiry(expiresAt, clock.now()),
      },
    }),
  ]
}

function checkTokenName(name: Json): Rejection | undefined {
  if (name === '') return reject('name_required', 'name', name)
  const accepted = `1 to ${MAX_NAME} printable ASCII characters`
  return typeof name === 'string' && NAME.test(name)
    ? undefined
    : reject('field_type_invalid', 'name', name, { accepted })
}

function checkRole(role: Json): Rejection | undefined {
  return ROLES.some((each) => each === role)
    ? undefined
    : reject('field_type_invalid', 'role', role, { accepted: `one of ${ROLES.join(', ')}` })
}

function checkExpiry(expiresAt: Json, now: number): Rejection | undefined {
  const isTime = typeof expiresAt === 'string' && RFC3339.test(expiresAt)
  if (isTime && Date.parse(expiresAt) > now) return undefined
  const accepted = 'a time in the future, for example 2030-01-31T00:00:00Z'
  return reject('field_type_invalid', 'expiresAt', expiresAt, { accepted })
}

function notForTenants(role: string): Rejection {
  return reject('permission_denied', 'role', role, {
    accepted: `a platform token; a tenant issues ${ROLES.filter((each) => each !== 'platform-admin').join(', ')}`,
  })
}

export function listTokens({ store }: Pick<TokenDeps, 'store'>, tenant: TenantId): Token[] {
  return ownTokens(store, tenant)
    .map(tokenView)
    .sort((left, right) => (left.id < right.id ? -1 : 1))
}

const ownTokens = (store: Pick<Store, 'list'>, tenant: TenantId): StoredToken[] =>
  store
    .list(tokens)
    .map(({ record }) => record)
    .filter((record) => record.tenant === tenant)

export async function revokeToken(
  { store, clock }: TokenDeps,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<Token>> {
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const stored = isTokenId(id) ? transaction.get(globally(tokens, id)) : undefined
    if (stored === undefined || stored.tenant !== caller.tenant) {
      return { kind: 'abort', result: refused(reject('not_found', 'path', id)) }
    }
    const conflict = checkIfMatch(ifMatch, TOKEN_REVISION)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    transaction.delete(globally(tokens, stored.id))
    recordAudit(transaction, clock, caller, {
      action: 'tokens:revoke',
      subject: { kind: 'Token', name: stored.id },
    })
    return { kind: 'commit', result: done(tokenView(stored)) }
  })
}

/** How long an expired token stays listed, so that an operator sees why a script stopped. */
const EXPIRED_KEPT_MS = 24 * 3_600_000
/** The most tokens that one transaction deletes. */
const AT_ONCE = 100

export async function sweepTokens({ store, clock }: Pick<TokenDeps, 'store' | 'clock'>): Promise<void> {
  const before = clock.now() - EXPIRED_KEPT_MS
  const spent = store.list(tokens).filter(({ record }) => Date.parse(record.expiresAt) <= before)
  for (let from = 0; from < spent.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const { record } of spent.slice(from, from + AT_ONCE))
        transaction.delete(globally(tokens, record.id))
      return { kind: 'commit', result: undefined }
    })
  }
}
