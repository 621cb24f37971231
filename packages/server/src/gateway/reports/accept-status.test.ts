// Tests which observations are stored when a record needed to check them cannot be read.

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
  return { store, reports, poison, report: () => writeReports(context, index, session, reports) }
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
