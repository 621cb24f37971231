// Tests which facts about servers, agents and records the plan of an upgrade is judged by.

import { VERSION } from '@holdfast/contract'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, nodeId, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { FIRST_FORMAT, formatAddress } from '../../store/format.ts'
import type { RecordForm } from '../../store/records/collection.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { networks, nodes, type StoredNode, serverReplicas } from '../../store/records.ts'
import { openStore } from '../../store/store.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import { realIds as ids } from '../../system-clock.ts'
import { gatherUpgradeFacts } from './gather-upgrade-facts.ts'

const FORMS: readonly RecordForm[] = [
  { v: 1, since: '0.1.0' },
  { v: 2, since: '0.2.0' },
]
const ON_DEMAND = FORMS.map((form) => (form.v === 2 ? { ...form, onDemand: true as const } : form))

async function open(forms: readonly RecordForm[]) {
  const engine = connectMemory(createMemoryKeyspace())
  const unreadable = new Set<string>()
  const store = await openStore({ engine, clock, ids, forms, onUnreadable: (key) => unreadable.add(key) })
  onTestFinished(() => store.close())
  return { store, engine, unreadable }
}

test('the facts are those of the stored records', async () => {
  const { store, engine, unreadable } = await open(FORMS)
  const tenant = someTenant()
  const server = { v: 1, url: '', startedAt: '', heartbeat: 1, leads: true }
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(serverReplicas, 'srv_a'), server)
    transaction.put(globally(serverReplicas, 'srv_b'), { ...server, version: '0.2.0', reads: 2 })
    transaction.put(formatAddress, FIRST_FORMAT)
  })
  await store.fresh()
  expect((await gatherUpgradeFacts(store, { finalize: 'auto', unreadable })).agents).toEqual([])
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record ?? expect.unreachable()
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, nodeId), { ...node, agent: { version: '0.1.7' } }),
  )
  const key = store.keyspace.tenantKey(tenant, networks.folder, 'lost')
  await engine.transact({
    compares: [],
    success: [{ kind: 'put', key, value: Buffer.from('{}') }],
    failure: [],
  })
  expect(await gatherUpgradeFacts(store, { finalize: 'auto', unreadable })).toEqual({
    program: { version: VERSION, oldest: 1, newest: 2, since: '0.2.0' },
    writes: 1,
    raisedBy: 'servers',
    servers: [
      { id: 'srv_a', version: '0.1.0', reads: 1 },
      { id: 'srv_b', version: '0.2.0', reads: 2 },
    ],
    agents: [{ node: 't/n1', version: '0.1.7' }],
    records: [],
    unreadable: 1,
  })
})

test.each([
  [FORMS, 'auto', 'servers'],
  [FORMS, 'manual', 'operator'],
  [ON_DEMAND, 'auto', 'request'],
  [ON_DEMAND, 'manual', 'operator'],
] as const)('the form is raised by %j with %s: %s', async (forms, finalize, expected) => {
  const { raisedBy } = await gatherUpgradeFacts((await open(forms)).store, {
    finalize,
    unreadable: new Set(),
  })
  expect(raisedBy).toBe(expected)
})

test('records of a form that the program no longer reads are counted by their kind', async () => {
  const { store, unreadable } = await open(FORMS.slice(1))
  await write(store, (transaction) => putTenant(transaction, someTenant()))
  await store.fresh()
  const { records } = await gatherUpgradeFacts(store, { finalize: 'auto', unreadable })
  expect(records).toContainEqual({ kind: nodes.folder, form: 1, becomes: 2, count: 1 })
})

test('records that wait for a migration are counted', async () => {
  const { store, unreadable } = await open(FORMS)
  await write(store, (transaction) => putTenant(transaction, someTenant()))
  await store.fresh()
  const migrations = [{ collection: nodes, to: 2, migrate: (record: StoredNode) => record }]
  const { records } = await gatherUpgradeFacts(store, { finalize: 'auto', unreadable, migrations })
  expect(records).toEqual([{ kind: nodes.folder, form: 1, becomes: 2, count: 1 }])
})
