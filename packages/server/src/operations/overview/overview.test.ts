// Reads of a tenant with placed replicas: the overview with cures, the load of nodes, short lists and residency.

import { NODE_COUNTRY, ownerOf, type TenantId } from '@holdfast/contract'
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
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../../store/records.fixture.ts'
import { decisions, deployments, nodes, type StoredDeployment, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { decisionId } from '../deployments/read/decisions.ts'
import { listDecisions } from '../deployments/read/list-decisions.ts'
import { listSummaries } from '../deployments/read/list-summaries.ts'
import { replicasOn } from '../nodes/node-load.ts'
import { listNodeSummaries } from '../nodes/read-nodes.ts'
import { listResidency } from '../residency/list-residency.ts'
import { listTenantSummaries } from './list-tenant-summaries.ts'
import { readOverview } from './read-overview.ts'

const tenant = someTenant()
const NOW = new Date(clock.now()).toISOString()
const CURE = { text: 'Uncordon n1.', changes: [{ kind: 'uncordon' as const, text: 'Uncordon n1.', nodeId }] }
let store: Store
beforeEach(async () => {
  store = await openOver(createMemoryKeyspace())
  await put((transaction) => {
    putTenant(transaction, tenant)
    putDeployment(transaction, tenant, 'web')
    putPlacement(transaction, tenant, 'web')
    putDeployment(transaction, tenant, 'report')
    putUnplaced(transaction)
  })
})
afterEach(() => store.close())

async function put(change: (transaction: Transaction) => void): Promise<void> {
  await write(store, change)
  await store.fresh()
}

function putDeployment(
  transaction: Transaction,
  owner: TenantId,
  name: string,
  changes: Partial<StoredDeployment> = {},
): void {
  const record = aDeployment(name, { uid: uidOf(name), digest: `sha256:${'d'.repeat(64)}`, ...changes })
  transaction.put(inTenant(owner, deployments, name), record)
}

/** A deployment without a node, and the decision that explains it. */
function putUnplaced(transaction: Transaction): void {
  const owner = ownerOf('deployment', uidOf('report'))
  const shortfall = { reason: 'unschedulable', summary: '0 of 1 nodes fit' }
  const decided = { number: 1, at: NOW, reason: 'unschedulable' }
  putPlacement(transaction, tenant, 'report', { assignments: [], everAssigned: false, shortfall, decided })
  transaction.put(inTenant(tenant, decisions, decisionId({ owner, number: 1, at: clock.now() })), {
    ...{ v: 1, owner, name: 'report', number: 1, decidedAt: NOW, revision: 1 },
    ...{ phase: 'Pending', reason: 'unschedulable', summary: '0 of 1 nodes fit' },
    replicas: { desired: 1, placed: 0, ready: 0 },
    candidates: [{ nodeId, nodeName: 'n1', refusals: [], cure: CURE }],
    cure: [CURE.text],
  })
}

async function putNode(changes: Partial<StoredNode>): Promise<void> {
  const before = store.get(inTenant(tenant, nodes, nodeId))?.record
  if (before === undefined) throw new Error('the node is missing')
  await put((transaction) => transaction.put(inTenant(tenant, nodes, nodeId), { ...before, ...changes }))
}

const attention = () => ({
  store,
  clock,
  quotas: { list: () => ({ items: [{ kind: 'nodes' as const, used: 1, limit: 1 }] }) },
  failsAfterMs: 80_000,
  advise: () => [],
})
const reads = () => ({
  store,
  clock,
  residency: { enforcement: true, regions: {} },
  heardAt: () => undefined,
  silence: { unreachableMs: 40_000, failedMs: 120_000 },
})
const accepted = <T>(outcome: { readonly ok: true; readonly value: T } | { readonly ok: false }): T => {
  if (!outcome.ok) throw new Error('rejected')
  return outcome.value
}
const page = { limit: 10 }

test('the overview lists the worst first, with the cure that the last decision found', async () => {
  await putNode({ status: 'unreachable' })
  const overview = accepted(await readOverview(attention(), tenant))
  expect(
    overview.attention.map(({ severity, code, subject }) => `${severity} ${code} ${subject.name}`),
  ).toEqual(['error unschedulable report', 'warning unreachable n1', 'warning quota_reached nodes'])
  expect(overview.attention[0]?.cure).toEqual(CURE)
  expect(overview.attention[1]?.text).toContain('1 replica is on it')
  expect(overview.attention[1]?.text).toContain(new Date(clock.now() + 80_000).toISOString())
  expect(overview.nodes).toEqual({ total: 1, counts: { unreachable: 1 }, cordoned: 0 })
  expect(overview.attentionOmitted).toBe(0)
})

test('a tenant without trouble comes after one with trouble', async () => {
  const quiet = someTenant()
  await put((transaction) => putTenant(transaction, quiet))
  const deps = { ...attention(), quotas: { list: () => ({ items: [] }) } }
  const { items } = accepted(await listTenantSummaries(deps, { ...page, sort: 'worst' }))
  expect(items.map(({ id, worst }) => [id, worst])).toEqual([
    [tenant, 'error'],
    [quiet, null],
  ])
  expect(items[0]).toMatchObject({ attention: { error: 1 }, deployments: { total: 2 } })
})

test('a node shows what its replicas request, when it was last heard, and which replicas it has', async () => {
  await putNode({ status: 'failed' })
  const [node] = accepted(await listNodeSummaries(reads(), tenant, page)).items
  expect(node).toMatchObject({ requested: { cpuMillis: 100, memoryBytes: 64 }, replicas: 1, since: NOW })
  expect(node?.lastHeardAt).toBe(new Date(clock.now() - 120_000).toISOString())
  expect(replicasOn(store, tenant, nodeId)).toMatchObject([
    { assignmentId: assignmentIdOf('web'), kind: 'Deployment', name: 'web', replica: 1, leaving: false },
  ])
})

test('a short list names the nodes of each deployment', async () => {
  const { items } = accepted(await listSummaries(store, tenant, { ...page, sort: 'worst' }))
  expect(items.map(({ name, phase, nodes: names }) => [name, phase, names])).toEqual([
    ['report', 'Pending', []],
    ['web', 'Progressing', ['n1']],
  ])
})

test('decisions are listed with their time and reason', async () => {
  const listed = async (times: object) =>
    accepted(await listDecisions(store, tenant, 'report', { ...page, times })).items
  expect(await listed({})).toEqual([
    { at: NOW, phase: 'Pending', reason: 'unschedulable', revision: 1, summary: '0 of 1 nodes fit' },
  ])
  expect(await listed({ since: clock.now() + 1 })).toEqual([])
})

test.each([
  ['an attested country', { country: 'DE' }, { country: 'DE' }, true, true],
  ['a country that the join token does not confirm', { country: 'DE' }, {}, false, true],
  ['another country', { country: 'FR' }, { country: 'FR' }, true, false],
])('residency reports %s', async (_, labels, attested, isAttested, holds) => {
  await putNode({ labels: { [NODE_COUNTRY]: labels.country }, attested })
  const spec = { ...aSpec('web'), placement: { residency: { country: 'DE' } } }
  await put((transaction) => putDeployment(transaction, tenant, 'web', { spec }))
  const entry = accepted(await listResidency(reads(), tenant, page)).items.find(
    ({ deployment }) => deployment === 'web',
  )
  expect(entry).toMatchObject({
    demand: { country: 'DE' },
    holds,
    replicas: [{ replica: 1, node: 'n1', country: labels.country, attested: isAttested, holds }],
  })
})
