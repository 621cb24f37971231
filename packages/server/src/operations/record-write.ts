// Records every accepted write in the transaction of that write: the audit entry, which also proves that the transaction
// was committed, and the event (docs/design/events.md#audit).

import { hash } from 'node:crypto'
import { defined, type Event, type EventType, type Json } from '@holdfast/contract'
import { type Clock, timestamp } from '../ports/clock.ts'
import { accessAudit, audit, events } from '../store/records.ts'
import { type Address, inTenant, type Transaction } from '../store/transaction.ts'
import type { Caller } from './caller.ts'

export interface AuditedWrite {
  readonly action: string
  readonly subject: { readonly kind: string; readonly name: string }
  readonly revision?: number
  readonly detail?: { [name: string]: string }
}

/** Actions that change nothing the tenant desires. Their entries have a budget apart from that of writes. */
const ACCESSES: ReadonlySet<string> = new Set([
  'deployments:exec',
  'deployments:exec-open',
  'sign-ins:open',
  'sign-ins:close',
  'volumes:download-divergence',
])

export function recordAudit(
  transaction: Transaction,
  clock: Clock,
  caller: Caller,
  write: AuditedWrite,
): void {
  const { tenant, token, tokenName: name, role, onBehalf, requestId } = caller
  const entry = {
    v: 1,
    id: transaction.id,
    time: timestamp(clock),
    tenant,
    actor: { token, role, ...defined({ name }) },
    onBehalf,
    requestId,
    ...write,
  }
  const collection = ACCESSES.has(write.action) ? accessAudit : audit
  transaction.put(inTenant(tenant, collection, transaction.id), entry)
  const events = recorded.get(transaction)?.events ?? []
  recorded.set(transaction, { isAudited: true, events: [] })
  for (const { address, event } of events) transaction.put(address, { ...event, audit: transaction.id })
}

type StoredEvent = Event & { readonly v: number }

/** Whether a transaction has its audit entry, and the events that it recorded before: each names the audit entry. */
const recorded = new WeakMap<
  Transaction,
  {
    readonly isAudited: boolean
    readonly events: { readonly address: Address<StoredEvent>; readonly event: StoredEvent }[]
  }
>()

export interface NewEvent {
  readonly type: EventType
  readonly severity: Event['severity']
  readonly subject: Event['subject']
  /** The cause of the event; type, subject and cause together identify an event. */
  readonly cause: string
  readonly reason: string
  readonly message: string
  readonly data: Json
  /** Position of the event among the events of its transaction; absent if their order does not matter. */
  readonly place?: number
}

export function recordEvent(
  transaction: Transaction,
  clock: Clock,
  tenant: Caller['tenant'],
  event: NewEvent,
): void {
  const { cause, place, ...shown } = event
  const id = eventId(event)
  const address = inTenant(tenant, events, id)
  const stored = { v: 1, id, tenant, time: timestamp(clock), ...shown }
  const { isAudited, events: earlier } = recorded.get(transaction) ?? { isAudited: false, events: [] }
  transaction.put(address, isAudited ? { ...stored, audit: transaction.id } : stored)
  if (!isAudited) recorded.set(transaction, { isAudited, events: [...earlier, { address, event: stored }] })
}

/** Records an event that may be reported repeatedly. False if the event exists already: there is nothing to commit. */
export function recordEventOnce(
  transaction: Transaction,
  clock: Clock,
  tenant: Caller['tenant'],
  event: NewEvent,
): boolean {
  if (!transaction.requireAbsent(inTenant(tenant, events, eventId(event)))) return false
  recordEvent(transaction, clock, tenant, event)
  return true
}

/** The id of an event. An event that is reported twice gets the same id. */
function eventId({ type, subject, cause, place }: NewEvent): string {
  const digest = hash('sha256', JSON.stringify([type, subject.kind, subject.uid, cause]), 'hex').slice(0, 32)
  if (place === undefined) return `evt_${digest}`
  const first = Math.min(place, LAST_PLACE).toString(16).padStart(2, '0')
  return `evt_${first}${digest.slice(first.length)}`
}

const LAST_PLACE = 0xff
