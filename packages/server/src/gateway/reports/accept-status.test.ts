// Tests which observations are stored when a record needed to check them cannot be read, or when an agent was restarted.

import { type Observation, ownerOf, type TenantId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  assignmentIdOf,
  clock,
  nodeId,
  openOver,
  putPlacement,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { someTenant } from '../../store/records.fixture.ts'
import { observations, placements } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { type GatewayContext, newCounts } from '../deps.ts'
import { createDesiredIndex } from '../desired/desired-index.ts'
import { newSession, type Reports } from '../session/session.ts'
import { acceptReports, writeReports } from './accept-status.ts'

const tenant: TenantId = someTenant()
let close = () => {}
afterEach(() => close())

const ready = (name: string): Observation => ({
  assignmentId: assignmentIdOf(name),
  generation: 1,
  seq: 1,
  state: 'ready',
  containerId: null,
  startedAt: null,
  exitCode: null,
  restarts: 0,
  reason: '',
  gone: false,
})

/** A session that has accepted a report for each replica but stored none of them yet. */
async function acceptedReports(...names: string[]) {
  const keyspace = createMemoryKeyspace()
  const store = await openOver(keyspace)
  close = () => store.close()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    for (const name of names) putPlacement(transaction, tenant, name)
  })
  await store.fresh()
  const context = { store, clock, replica: 'srv', counts: newCounts() } as unknown as GatewayContext
  const index = createDesiredIndex(store)
  const session = newSession(
    { tenant, nodeId, generation: 1, epoch: 1, reportedStatus: 'ready' },
    undefined,
    0,
  )
  acceptReports(context, index, session, names.map(ready))
  const reports = session.reports as Reports
  const poison = async (key: string): Promise<void> => {
    const value = Buffer.from('{')
    keyspace.transact({ compares: [], success: [{ kind: 'put', key, value }], failure: [] })
    await store.fresh()
  }
  const accept = (...given: Observation[]): void => acceptReports(context, index, session, given)
  return { store, reports, poison, accept, report: () => writeReports(context, index, session, reports) }
}

const seen = (store: Store, name: string) =>
  store.get(inTenant(tenant, observations, assignmentIdOf(name)))?.record.state

test('an unreadable placement holds back the reports of its own replicas only', async () => {
  const { store, reports, poison, report } = await acceptedReports('broken', 'readable')
  await poison(store.keyspace.tenantKey(tenant, placements.folder, ownerOf('deployment', uidOf('broken'))))
  expect(await report()).toBe('written')
  await store.fresh()
  expect([seen(store, 'broken'), seen(store, 'readable')]).toEqual([undefined, 'ready'])
  expect([...reports.unwritten.keys()]).toEqual([assignmentIdOf('broken')])
  expect(await report()).toBe('held')
})

test('a new observation replaces a stored one that cannot be read', async () => {
  const { store, reports, poison, report } = await acceptedReports('web', 'other')
  await poison(store.keyspace.tenantKey(tenant, observations.folder, assignmentIdOf('web')))
  expect(await report()).toBe('written')
  await store.fresh()
  expect([seen(store, 'web'), seen(store, 'other')]).toEqual(['ready', 'ready'])
  expect(reports.unwritten.size).toBe(0)
})

test('a last exit that a restarted agent no longer knows is kept, for the same container only', async () => {
  const { store, accept, report } = await acceptedReports('web')
  const storedExit = async (change: Partial<Observation>) => {
    accept({ ...ready('web'), ...change })
    await report()
    await store.fresh()
    return store.get(inTenant(tenant, observations, assignmentIdOf('web')))?.record.lastExit
  }
  const lastExit = { code: 42, at: '2026-01-01T00:00:00Z' }
  expect(await storedExit({ seq: 2, containerId: 'c', restarts: 1, lastExit })).toEqual(lastExit)
  expect(await storedExit({ seq: 3, containerId: 'c', restarts: 1, reason: 'not_ready' })).toEqual(lastExit)
  expect(await storedExit({ seq: 4, containerId: 'd' })).toBeUndefined()
})
