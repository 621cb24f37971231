// A sign-in: permission of one browser to act with one token. The browser has 256 random bits in a cookie; the store has
// their hash. A sign-in ends with its token, 12 hours after it began, or after one hour without a request.

import { hash } from 'node:crypto'
import type { TokenId } from '@holdfast/contract'
import type { Clock, IdSource } from '../../ports/clock.ts'
import { type StoredSignIn, signIns, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'

export const SIGN_IN_MS = 12 * 3_600_000
const IDLE_MS = 3_600_000
/** How often the last use is written. A sign-in may therefore end this much earlier than an hour after its last use. */
const NOTE_EVERY_MS = 5 * 60_000
const SECRET_BYTES = 32
const SECRET = /^[A-Za-z0-9_-]{43}$/
const AT_ONCE = 100

export interface MintedSignIn {
  /** The value of the cookie. */
  readonly secret: string
  readonly id: string
  readonly record: StoredSignIn
}

export function mintSignIn(ids: IdSource, now: number, token: TokenId): MintedSignIn {
  const secret = Buffer.from(ids.bytes(SECRET_BYTES)).toString('base64url')
  const [createdAt, expiresAt] = [now, now + SIGN_IN_MS].map((at) => new Date(at).toISOString())
  const record = {
    v: 1,
    token,
    createdAt: createdAt ?? '',
    expiresAt: expiresAt ?? '',
    usedAt: createdAt ?? '',
  }
  return { secret, id: signInId(secret) ?? '', record }
}

/** The id of the record of a cookie; undefined if the text is not the value of a cookie of this server. */
export function signInId(secret: string): string | undefined {
  return SECRET.test(secret) ? hash('sha256', secret, 'hex') : undefined
}

export function isEnded({ expiresAt, usedAt }: StoredSignIn, now: number): boolean {
  return Date.parse(expiresAt) <= now || Date.parse(usedAt) + IDLE_MS <= now
}

/** Whether a use must be written, so that the sign-in does not end as idle. */
const isUseDue = ({ usedAt }: StoredSignIn, now: number): boolean => Date.parse(usedAt) + NOTE_EVERY_MS <= now

/** Writes the last use of a sign-in. A sign-in that has ended since stays ended. */
async function noteUse(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  id: string,
): Promise<void> {
  await store.transact<void>((transaction) => {
    const address = globally(signIns, id)
    const stored = transaction.get(address)
    const now = clock.now()
    if (stored === undefined || isEnded(stored, now) || !isUseDue(stored, now))
      return { kind: 'abort', result: undefined }
    transaction.put(address, { ...stored, usedAt: new Date(now).toISOString() })
    return { kind: 'commit', result: undefined }
  })
}

/** Notes uses in the background, at most one write of a sign-in at a time. A failed write is retried with the next use. */
export function createUseNotes(
  deps: { readonly store: Store; readonly clock: Clock },
  onFailure: (error: unknown) => void,
): (id: string) => void {
  const writing = new Set<string>()
  return (id) => {
    const record = deps.store.get(globally(signIns, id))?.record
    if (record === undefined || writing.has(id) || !isUseDue(record, deps.clock.now())) return
    writing.add(id)
    noteUse(deps, id)
      .catch(onFailure)
      .finally(() => writing.delete(id))
  }
}

/** Deletes sign-ins that have ended, and those of tokens that no longer exist. */
export async function sweepSignIns({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const now = clock.now()
  const live = new Set(store.list(tokens).map(({ record }) => record.id))
  const ended = store
    .listWithIds(signIns)
    .filter(({ record }) => isEnded(record, now) || !live.has(record.token))
  for (let from = 0; from < ended.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const { id } of ended.slice(from, from + AT_ONCE)) transaction.delete(globally(signIns, id))
      return { kind: 'commit', result: undefined }
    })
  }
}
