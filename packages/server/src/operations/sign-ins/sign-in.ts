// POST and DELETE /sign-in: a browser exchanges a token for a cookie, and gives the cookie up.

import { decode, type Json, newSignInShape, type SignIn, type TokenId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import { signIns } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import { readMe } from '../tenants/read-me.ts'
import { mintSignIn } from './sign-in-record.ts'

export interface SignInDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  /** The caller whose token a text is; undefined if no valid token is. */
  findCaller(token: string, requestId: string): Promise<Caller | undefined>
}

/** The most sign-ins of one token. A further one ends the oldest, so that no browser is locked out. */
export const SIGN_INS_PER_TOKEN = 32

export interface OpenedSignIn {
  /** The value of the cookie, which the response body must not contain. */
  readonly secret: string
  readonly shown: SignIn
}

export async function openSignIn(
  deps: SignInDeps,
  body: Json,
  requestId: string,
): Promise<Outcome<OpenedSignIn>> {
  const { store, clock, ids } = deps
  const faults = checkShape(newSignInShape, body, { secret: true })
  if (faults.length > 0) return refused(...faults)
  const caller = await deps.findCaller(decode(newSignInShape, body).token, requestId)
  if (caller === undefined) return refused(reject('unauthenticated', 'token', undefined))
  const me = readMe(store, caller)
  if (!me.ok) return me
  const { secret, id, record } = mintSignIn(ids, clock.now(), caller.token)
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    for (const old of surplus(store, caller.token)) transaction.delete(globally(signIns, old))
    transaction.put(globally(signIns, id), record)
    recordAudit(transaction, clock, caller, {
      action: 'sign-ins:open',
      subject: { kind: 'Token', name: caller.token },
    })
    return { kind: 'commit', result: done({ secret, shown: { ...me.value, expiresAt: record.expiresAt } }) }
  })
}

/** The oldest sign-ins of a token, without which one more fits. */
function surplus(store: Pick<Store, 'listWithIds'>, token: TokenId): string[] {
  const own = store.listWithIds(signIns).filter(({ record }) => record.token === token)
  const oldestFirst = own.toSorted((left, right) => (left.record.createdAt < right.record.createdAt ? -1 : 1))
  return oldestFirst.slice(0, Math.max(0, own.length + 1 - SIGN_INS_PER_TOKEN)).map(({ id }) => id)
}

export async function closeSignIn(
  { store, clock }: Pick<SignInDeps, 'store' | 'clock'>,
  caller: Caller,
): Promise<Outcome<{ readonly endedAt: string }>> {
  const { signIn } = caller
  if (signIn === undefined) return refused(reject('not_found', 'path', '/api/v1/sign-in'))
  return store.transact((transaction) => {
    transaction.delete(globally(signIns, signIn))
    recordAudit(transaction, clock, caller, {
      action: 'sign-ins:close',
      subject: { kind: 'Token', name: caller.token },
    })
    return { kind: 'commit', result: done({ endedAt: timestamp(clock) }) }
  })
}
