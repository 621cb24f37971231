// A join token `hfj_<ulid>_<secret>`: shown once, valid once and for 15 minutes, for one node name of one tenant with fixed
// residency values. Only the SHA-256 of its secret half is stored (docs/design/agent.md#enrollment).

import { hash, timingSafeEqual } from 'node:crypto'
import type { Infer } from '@holdfast/contract'
import type { IdSource } from '../../ports/clock.ts'
import type { joinTokenShape } from '../../store/records.ts'

export type StoredJoinToken = Infer<typeof joinTokenShape>

export const JOIN_TOKEN_MS = 15 * 60_000

const FORM = /^hfj_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/

/** A join token as an agent presents it: the id of the token's record, and the hash of the secret half. */
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

/** Whether a join token is valid for a node name. The answer does not reveal why a token is invalid. */
export function isValidJoinToken(
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

/** The command that enrolls a machine. Without `caPin` the machine's own authorities are trusted. */
export function joinCommand(publicUrl: string, nodeName: string, token: string, caPin?: string): string {
  const pinned = caPin === undefined ? '' : ` --ca-pin ${caPin}`
  return `holdfast-agent enroll --server ${publicUrl}${pinned} --token ${token} --name ${nodeName}`
}
