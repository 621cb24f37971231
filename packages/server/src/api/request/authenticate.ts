// Authenticates the header `Authorization: Bearer hf_<id>_<secret>`; the store has only a SHA-256 of the secret. Unknown,
// wrong and expired tokens get the same rejection. See docs/design/api.md#authentication.

import { hash, timingSafeEqual } from 'node:crypto'
import { isTokenId, type Rejection, type TokenId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Clock } from '../../ports/clock.ts'
import type { StoredTenant, StoredToken } from '../../store/records.ts'
import { tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'

const BEARER = /^Bearer hf_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/

export interface Credential {
  readonly token: StoredToken
  readonly tenant: StoredTenant
}

export type Authenticate = (header: string | undefined) => Promise<Credential | Rejection>

export function createAuthenticate(store: Pick<Store, 'get' | 'fresh'>, clock: Clock): Authenticate {
  const find = (id: string, secretHash: Buffer): Credential | undefined => {
    const token = store.get(globally(tokens, id))?.record
    const tenant = token && store.get(globally(tenants, token.tenant))?.record
    if (token === undefined || tenant === undefined || tenant.deleting) return undefined
    const known = Buffer.from(token.secretHash, 'hex')
    if (known.length !== secretHash.length || !timingSafeEqual(known, secretHash)) return undefined
    return Date.parse(token.expiresAt) > clock.now() ? { token, tenant } : undefined
  }
  return async (header) => {
    const parts = BEARER.exec(header ?? '')
    const id = `tok_${parts?.[1]}`
    if (parts === null || !isTokenId(id)) return unauthenticated(header)
    const secretHash = hashSecret(parts[2] ?? '')
    const found = find(id, secretHash)
    if (found !== undefined) return found
    // Another server replica may just have issued the token, so the cache is refreshed.
    await store.fresh()
    return find(id, secretHash) ?? unauthenticated(header)
  }
}

/** Reports whether a token that this server replica has already authenticated is still valid. */
export function isLiveToken(store: Pick<Store, 'get'>, id: TokenId): boolean {
  const token = store.get(globally(tokens, id))?.record
  return token !== undefined && store.get(globally(tenants, token.tenant))?.record.deleting === false
}

function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function unauthenticated(header: string | undefined): Rejection {
  return reject('unauthenticated', 'Authorization', header)
}
