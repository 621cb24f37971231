// Authenticates the header `Authorization: Bearer hf_<id>_<secret>`, or else the cookie of a browser that signed in. The
// store has only hashes of both. Unknown, wrong and expired ones get the same rejection. See
// docs/design/api.md#authentication.

import { hash, timingSafeEqual } from 'node:crypto'
import { isTokenId, type Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Caller } from '../../operations/caller.ts'
import { isEnded, signInId } from '../../operations/sign-ins/sign-in-record.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredTenant, StoredToken } from '../../store/records.ts'
import { signIns, tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { readCookie } from '../sign-in/cookie.ts'

const BEARER = /^Bearer hf_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/

export interface Credential {
  readonly token: StoredToken
  readonly tenant: StoredTenant
  /** The id of the sign-in; absent if the request carries the token itself. */
  readonly signIn?: string
}

/** The headers from which a caller is known: Authorization, Cookie and Sec-Fetch-Site. */
export interface SentCredentials {
  readonly authorization?: string
  readonly cookie?: string
  readonly fetchSite?: string
}

/**
 * The only value of Sec-Fetch-Site with which a cookie is valid. A page on a sibling subdomain is same-site and would pass
 * SameSite=Strict; tenants may run such pages.
 */
export const SAME_ORIGIN = 'same-origin'

export type Authenticate = (sent: SentCredentials) => Promise<Credential | Rejection>

export function createAuthenticate(store: Pick<Store, 'get' | 'fresh'>, clock: Clock): Authenticate {
  const find = (id: string, secretHash: Buffer): Credential | undefined => {
    const token = store.get(globally(tokens, id))?.record
    const tenant = token && store.get(globally(tenants, token.tenant))?.record
    if (token === undefined || tenant === undefined || tenant.deleting) return undefined
    const known = Buffer.from(token.secretHash, 'hex')
    if (known.length !== secretHash.length || !timingSafeEqual(known, secretHash)) return undefined
    return Date.parse(token.expiresAt) > clock.now() ? { token, tenant } : undefined
  }
  const findSigned = (signIn: string): Credential | undefined => {
    const record = store.get(globally(signIns, signIn))?.record
    if (record === undefined || isEnded(record, clock.now())) return undefined
    const token = store.get(globally(tokens, record.token))?.record
    const found = token && find(token.id, Buffer.from(token.secretHash, 'hex'))
    return found && { ...found, signIn }
  }
  return async (sent) => {
    const lookUp = finderOf(sent, find, findSigned)
    if (lookUp === undefined) return unauthenticated(sent.authorization)
    const found = lookUp()
    if (found !== undefined) return found
    // Another server replica may just have issued the token or the cookie, so the cache is refreshed.
    await store.fresh()
    return lookUp() ?? unauthenticated(sent.authorization)
  }
}

type Found = Credential | undefined

/** How to find the caller; undefined if no credential was sent in its form. A cookie beside Authorization is ignored. */
function finderOf(
  { authorization, cookie, fetchSite }: SentCredentials,
  find: (id: string, secretHash: Buffer) => Found,
  findSigned: (signIn: string) => Found,
): (() => Found) | undefined {
  if (authorization === undefined) {
    const signIn = fetchSite === SAME_ORIGIN ? signInId(readCookie(cookie) ?? '') : undefined
    return signIn === undefined ? undefined : () => findSigned(signIn)
  }
  const parts = BEARER.exec(authorization)
  const id = `tok_${parts?.[1]}`
  if (parts === null || !isTokenId(id)) return undefined
  const secretHash = hashSecret(parts[2] ?? '')
  return () => find(id, secretHash)
}

/** Reports whether the token and the sign-in of a caller that this server replica has authenticated are still valid. */
export function isLiveCaller(
  store: Pick<Store, 'get'>,
  { token: id, signIn }: Pick<Caller, 'token' | 'signIn'>,
): boolean {
  if (signIn !== undefined && store.get(globally(signIns, signIn)) === undefined) return false
  const token = store.get(globally(tokens, id))?.record
  return token !== undefined && store.get(globally(tenants, token.tenant))?.record.deleting === false
}

function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function unauthenticated(header: string | undefined): Rejection {
  return reject('unauthenticated', 'Authorization', header)
}
