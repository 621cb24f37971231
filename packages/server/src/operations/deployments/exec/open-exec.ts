// A ticket is used: once, on whichever replica, as long as the token that asked for it counts. Unknown, used, expired and
// wrong tickets are one answer.

import { reject } from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import { execTickets, type StoredToken, tenants, tokens } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'
import { type Caller, done, limited, type Outcome, refused } from '../../caller.ts'
import { recordAudit } from '../../record-write.ts'
import { requireLiveCaller } from '../../require-live-caller.ts'
import { type ExecOrder, openExecTicket } from './exec-ticket.ts'

export interface OpenedExec {
  readonly caller: Caller
  readonly order: ExecOrder
}

const ID = /^exec_([0-9A-HJKMNP-TV-Z]{26})$/
const RETRY_SECONDS = 30
/** Of one transaction (SAFETY 4a). */
const AT_ONCE = 80

/** `mayOpen`: whether the token may have one more now; asked before the ticket is used up. */
export async function openExec(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { id, ticket, requestId }: { readonly id: string; readonly ticket: string; readonly requestId: string },
  mayOpen: (token: Caller['token']) => boolean,
): Promise<Outcome<OpenedExec>> {
  const [, key = ''] = ID.exec(id) ?? []
  if (key === '') return refused(noTicket())
  return store.transact<Outcome<OpenedExec>>((transaction) => {
    // Compared at commit: of two that use it at once, one finds it gone.
    const stored = transaction.get(globally(execTickets, key))
    const order = stored && openExecTicket(ticket, stored)
    if (stored === undefined || order === undefined || Date.parse(stored.expiresAt) <= clock.now())
      return { kind: 'abort', result: refused(noTicket()) }
    const { tenant, token, role, onBehalf, deployment: name } = stored
    const caller: Caller = { tenant, token, role, onBehalf, requestId }
    const asker = transaction.get(globally(tokens, token))
    if (requireLiveCaller(transaction, caller) !== undefined || !isValid(asker, clock))
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

/** For as long as it goes on: a token that counts no more ends what it opened. */
export function stillCounts(
  { store, clock }: { store: Store; clock: Clock },
  { tenant, token }: Caller,
): boolean {
  const isThere = store.get(globally(tenants, tenant))?.record.deleting === false
  return isThere && isValid(store.get(globally(tokens, token))?.record, clock)
}

const isValid = (token: StoredToken | undefined, clock: Clock): boolean =>
  token !== undefined && Date.parse(token.expiresAt) > clock.now()

const noTicket = () => reject('unauthenticated', 'ticket', undefined)

/** Those that nobody used in time. */
export async function sweepExecTickets({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const now = clock.now()
  const spent = store.listWithIds(execTickets).filter(({ record }) => Date.parse(record.expiresAt) <= now)
  for (let from = 0; from < spent.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const { id } of spent.slice(from, from + AT_ONCE)) transaction.delete(globally(execTickets, id))
      return { kind: 'commit', result: undefined }
    })
  }
}
