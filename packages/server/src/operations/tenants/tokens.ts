// Issues, lists and revokes tokens. A token belongs to one tenant, has a role and must expire. The secret half of a token
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
import { reject } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import { type StoredToken, tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
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
  { store, clock, ids, answers }: TokenDeps,
  caller: Caller,
  body: Json,
  kept: Kept<IssuedToken>,
): Promise<Outcome<IssuedToken>> {
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
    transaction.put(globally(tokens, record.id), record)
    recordAudit(transaction, clock, caller, {
      action: 'tokens:issue',
      subject: { kind: 'Token', name: record.id },
    })
    return keepOnce(answers, transaction, caller, kept, { ...tokenView(record), token: text })
  })
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
