// Reads the current records of etcd, without any cache of the gateway under test.

import type { AssignmentId, Event, EventType, TenantId } from '@holdfast/contract'
import {
  events,
  nodes,
  observations,
  type StoredNode,
  type StoredObservation,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import type { EnrolledNode } from './session-records.ts'

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

export async function observationOf(
  store: Store,
  tenant: TenantId,
  id: AssignmentId,
): Promise<StoredObservation | undefined> {
  await store.fresh()
  return store.get(inTenant(tenant, observations, id))?.record
}
