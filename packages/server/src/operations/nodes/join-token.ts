// A join token: `hfj_<ulid>_<secret>`, shown once, good once and for 15 minutes, for one node name of one tenant and for
// the residency values it was made with. Only a SHA-256 of its secret half is stored. DECISIONS 8, SAFETY 2 row 12.

import { hash, timingSafeEqual, X509Certificate } from 'node:crypto'
import type { Infer } from '@holdfast/contract'
import type { IdSource } from '../../ports/clock.ts'
import type { joinTokenShape } from '../../store/records.ts'

export type StoredJoinToken = Infer<typeof joinTokenShape>

export const JOIN_TOKEN_MS = 15 * 60_000

const FORM = /^hfj_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/

/** As it was presented: where its record would be, and what proves it. */
export interface PresentedToken {
  readonly id: string
  readonly secretHash: string
}

export function mintJoinToken(ids: IdSource): PresentedToken & { readonly text: string } {
  const id = ids.ulid()
  const secret = Buffer.from(ids.bytes(32)).toString('base64url')
  return { id, secretHash: hashSecret(secret), text: `hfj_${id}_${secret}` }
}

export function readJoinToken(text: string): PresentedToken | undefined {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secretHash: hashSecret(secret) }
}

/** Unknown, wrong, expired and made for another name are one answer: it tells nothing about tokens. */
export function isGoodToken(
  stored: StoredJoinToken | undefined,
  { secretHash }: PresentedToken,
  nodeName: string,
  now: number,
): stored is StoredJoinToken {
  return (
    stored !== undefined &&
    isSame(stored.secretHash, secretHash) &&
    stored.nodeName === nodeName &&
    Date.parse(stored.expiresAt) > now
  )
}

function isSame(known: string, presented: string): boolean {
  const [left, right] = [Buffer.from(known, 'hex'), Buffer.from(presented, 'hex')]
  return left.length === right.length && timingSafeEqual(left, right)
}

const hashSecret = (secret: string): string => hash('sha256', secret, 'hex')

/** The agent's own command line; what it is given it needs once. `caPin`: absent where the server is without TLS. */
export function joinCommand(publicUrl: string, nodeName: string, token: string, caPin?: string): string {
  const pinned = caPin === undefined ? '' : ` --ca-pin ${caPin}`
  return `holdfast-agent enroll --server ${publicUrl}${pinned} --token ${token} --name ${nodeName}`
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * What a machine that joins is to trust: the last certificate of the chain that this server shows, which is its authority
 * where the file holds that, and otherwise the nearest to it.
 */
export function caPinOf(chainPem: string): string {
  const last = chainPem.match(CERTIFICATE)?.at(-1)
  if (last === undefined) throw new Error('The file of the server certificate holds no certificate.')
  return `sha256:${hash('sha256', new X509Certificate(last).raw, 'hex')}`
}
