// Tokens: issue, list, revoke. DECISIONS 8: a token belongs to one tenant and has a role; expiry is required; the secret
// half is shown once and only its hash is stored.

import { createHash } from 'node:crypto'
import {
  decode,
  type IssuedToken,
  isTokenId,
  type Json,
  object,
  oneOf,
  type Rejection,
  ROLES,
  string,
  type TenantId,
  type Token,
  type TokenId,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../ports/clock.ts'
import { type StoredToken, tenants, tokens } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally } from '../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from './caller.ts'
import { checkShape } from './check-shape.ts'
import { type IdempotentAnswers, type Kept, keepOnce } from './idempotency.ts'
import { recordAudit } from './record-write.ts'

export const newTokenShape = object({ name: string(), role: oneOf(ROLES), expiresAt: string() })

export interface TokenDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly answers: IdempotentAnswers
}

export function tokenView({ id, name, role, createdAt, expiresAt }: StoredToken): Token {
  return { id, name, role, createdAt, expiresAt }
}

/** Makes the record and the text that is answered once. */
export function mintToken(
  ids: IdSource,
  now: string,
  tenant: TenantId,
  wanted: Pick<Token, 'name' | 'role' | 'expiresAt'>,
) {
  const ulid = ids.ulid()
  const secret = Buffer.from(ids.bytes(32)).toString('base64url')
  const secretHash = createHash('sha256').update(secret).digest('hex')
  const { name, role, expiresAt } = wanted
  const record: StoredToken = {
    v: 1,
    id: `tok_${ulid}` as TokenId,
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
  { store, clock, ids, answers }: TokenDeps,
  caller: Caller,
  body: Json,
  kept: Kept<IssuedToken>,
): Promise<Outcome<IssuedToken>> {
  const shapeFaults = checkShape(newTokenShape, body)
  if (shapeFaults.length > 0) return refused(...shapeFaults)
  const wanted = decode(newTokenShape, body)
  const faults = checkNewToken(wanted, caller, clock)
  if (faults.length > 0) return refused(...faults)
  const { record, text } = mintToken(ids, timestamp(clock), caller.tenant, wanted)
  return store.transact((transaction) => {
    const tenant = transaction.get(globally(tenants, caller.tenant))
    if (tenant === undefined || tenant.deleting) {
      return { kind: 'refuse', result: refused(reject('tenant_not_found', 'tenant', caller.tenant)) }
    }
    if (record.role === 'platform-admin' && !tenant.platform) {
      return { kind: 'refuse', result: refused(notForTenants(record.role)) }
    }
    transaction.put(globally(tokens, record.id), record)
    recordAudit(transaction, clock, caller, {
      action: 'tokens:issue',
      subject: { kind: 'Token', name: record.id },
    })
    return keepOnce(answers, transaction, caller, kept, { ...tokenView(record), token: text })
  })
}

const MAX_NAME = 63
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

function checkNewToken(
  { name, role, expiresAt }: Pick<Token, 'name' | 'role' | 'expiresAt'>,
  caller: Caller,
  clock: Clock,
): Rejection[] {
  const faults: Rejection[] = []
  if (role === 'platform-admin' && caller.role !== 'platform-admin') faults.push(notForTenants(role))
  if (name === '') faults.push(reject('name_required', 'name', name))
  else if (name.length > MAX_NAME || /[^\x20-\x7e]/.test(name)) {
    faults.push(
      reject('field_type_invalid', 'name', name, { accepted: `1 to ${MAX_NAME} printable ASCII characters` }),
    )
  }
  if (!ROLES.some((each) => each === role))
    faults.push(reject('field_type_invalid', 'role', role, { accepted: `one of ${ROLES.join(', ')}` }))
  const expires = RFC3339.test(expiresAt) ? Date.parse(expiresAt) : Number.NaN
  if (!(expires > clock.now())) {
    faults.push(
      reject('field_type_invalid', 'expiresAt', expiresAt, {
        accepted: 'a time in the future, for example 2030-01-31T00:00:00Z',
      }),
    )
  }
  return faults
}

function notForTenants(role: string): Rejection {
  return reject('permission_denied', 'role', role, {
    accepted: ROLES.filter((each) => each !== 'platform-admin').join(', '),
  })
}

export function listTokens({ store }: Pick<TokenDeps, 'store'>, tenant: TenantId): Token[] {
  return store
    .list(tokens)
    .filter(({ record }) => record.tenant === tenant)
    .map(({ record }) => tokenView(record))
    .sort((left, right) => (left.id < right.id ? -1 : 1))
}

export async function revokeToken(
  { store, clock }: TokenDeps,
  caller: Caller,
  id: string,
): Promise<Outcome<Token>> {
  return store.transact((transaction) => {
    const stored = isTokenId(id) ? transaction.get(globally(tokens, id)) : undefined
    if (stored === undefined || stored.tenant !== caller.tenant) {
      return { kind: 'refuse', result: refused(reject('not_found', 'path', id)) }
    }
    transaction.delete(globally(tokens, stored.id))
    recordAudit(transaction, clock, caller, {
      action: 'tokens:revoke',
      subject: { kind: 'Token', name: stored.id },
    })
    return { kind: 'commit', result: done(tokenView(stored)) }
  })
}
