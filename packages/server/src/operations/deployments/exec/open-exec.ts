// Opens an exec session with a ticket. A ticket works once, on any server replica, while the token that requested it is valid.
// Unknown, used, expired and wrong tickets get the same answer.

import { deploymentUidOf } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import { execTickets, type StoredToken, tenants, tokens } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'
import { type Caller, done, limited, type Outcome, refused } from '../../caller.ts'
import { requireLiveCaller } from '../../preconditions.ts'
import { recordAudit } from '../../record-write.ts'
import { type ExecOrder, openExecTicket } from './exec-ticket.ts'

export interface OpenedExec {
  readonly caller: Caller
  readonly order: ExecOrder
}

const ID = /^exec_([0-9A-HJKMNP-TV-Z]{26})$/
const RETRY_SECONDS = 30
/** The most exec tickets that one transaction deletes. */
const AT_ONCE = 80

/** Opens an exec session. `mayOpen` limits the sessions of a token and is called before the ticket is consumed. */
export async function openExec(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { id, ticket, requestId }: { readonly id: string; readonly ticket: string; readonly requestId: string },
  mayOpen: (token: Caller['token']) => boolean,
): Promise<Outcome<OpenedExec>> {
  const [, key = ''] = ID.exec(id) ?? []
  if (key === '') return refused(noTicket())
  return store.transact<Outcome<OpenedExec>>((transaction) => {
    // The ticket is compared at commit, so of two concurrent uses only one succeeds.
    const stored = transaction.get(globally(execTickets, key))
    const order = stored && openExecTicket(ticket, stored)
    if (stored === undefined || order === undefined || Date.parse(stored.expiresAt) <= clock.now())
      return { kind: 'abort', result: refused(noTicket()) }
    const { tenant, token, role, onBehalf, owner, name } = stored
    // A server that does not know the kind of the owner could not audit the use, so it leaves the ticket unused.
    if (deploymentUidOf(owner) === undefined) return { kind: 'abort', result: refused(noTicket()) }
    const caller: Caller = { tenant, token, role, onBehalf, requestId }
    const storedToken = transaction.get(globally(tokens, token))
    if (requireLiveCaller(transaction, caller) !== undefined || !isValid(storedToken, clock))
      return { kind: 'abort', result: refused(noTicket()) }
    if (!mayOpen(token)) return { kind: 'abort', result: limited('ticket', RETRY_SECONDS) }
    transaction.delete(globally(execTickets, key))
    recordAudit(transaction, clock, caller, {
      action: 'deployments:exec-open',
      subject: { kind: 'Deployment', name },
    })
    return { kind: 'commit', result: done({ caller, order }) }
  })
}

/** Whether a token is still valid; checked during an exec session, which ends when the token is revoked or expires. */
export function isTokenValid(
  { store, clock }: { store: Store; clock: Clock },
  { tenant, token }: Caller,
): boolean {
  const exists = store.get(globally(tenants, tenant))?.record.deleting === false
  return exists && isValid(store.get(globally(tokens, token))?.record, clock)
}

const isValid = (token: StoredToken | undefined, clock: Clock): boolean =>
  token !== undefined && Date.parse(token.expiresAt) > clock.now()

const noTicket = () => reject('unauthenticated', 'ticket', undefined)

/** Deletes exec tickets that expired unused. */
export async function sweepExecTickets({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const now = clock.now()
  const expired = store.listWithIds(execTickets).filter(({ record }) => Date.parse(record.expiresAt) <= now)
  for (let from = 0; from < expired.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const { id } of expired.slice(from, from + AT_ONCE)) transaction.delete(globally(execTickets, id))
      return { kind: 'commit', result: undefined }
    })
  }
}
