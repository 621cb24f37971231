// Reads the current records of etcd, without any cache of the gateway under test. Tests assert durations by the times of
// records, which stay apart however slow the machine is.

import { randomUUID } from 'node:crypto'
import { type AssignmentId, asTenantId, type Event, type EventType, type TenantId } from '@holdfast/contract'
import { recordEvent } from '@holdfast/server/operations/record-write'
import {
  events,
  nodes,
  observations,
  type StoredNode,
  type StoredObservation,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { type EnrolledNode, write } from './session-records.ts'

export async function nodeRecord(
  store: Store,
  { tenant, nodeId }: Pick<EnrolledNode, 'tenant' | 'nodeId'>,
): Promise<StoredNode> {
  await store.fresh()
  const found = store.get(inTenant(tenant, nodes, nodeId))
  if (found === undefined) throw new Error(`no record of ${nodeId}`)
  return found.record
}

export async function storedEvents(store: Store, tenant: TenantId): Promise<Event[]> {
  await store.fresh()
  const keys = store.keysOf(events, tenant).map(({ key }) => key)
  return (await store.read(events, keys)).flatMap((event) => event ?? [])
}

export async function eventTypes(store: Store, tenant: TenantId): Promise<EventType[]> {
  return (await storedEvents(store, tenant)).map(({ type }) => type)
}

/** When the last event of a type was recorded about a node, in milliseconds since 1970. */
export async function timeOfEvent(
  store: Store,
  { tenant, nodeId }: Pick<EnrolledNode, 'tenant' | 'nodeId'>,
  type: EventType,
): Promise<number> {
  const found = (await storedEvents(store, tenant)).findLast(
    (event) => event.type === type && event.subject.uid === nodeId,
  )
  if (found === undefined) throw new Error(`no event ${type} of ${nodeId}`)
  return Date.parse(found.time)
}

/** Records an event now, of a tenant of its own, and returns its time, to compare with the times of later events. */
export async function recordTime(store: Store): Promise<number> {
  const tenant = asTenantId(randomUUID())
  await write(store, (transaction) =>
    recordEvent(transaction, clock, tenant, {
      type: 'quota.reached',
      severity: 'info',
      reason: 'test',
      cause: 'test',
      message: 'The test records the time.',
      subject: { kind: 'Tenant', name: 'test', uid: tenant },
      data: {},
    }),
  )
  const [event] = await storedEvents(store, tenant)
  return Date.parse(event?.time ?? '')
}

export async function observationOf(
  store: Store,
  tenant: TenantId,
  id: AssignmentId,
): Promise<StoredObservation | undefined> {
  await store.fresh()
  return store.get(inTenant(tenant, observations, id))?.record
}
