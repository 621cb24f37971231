// Jobs among the documents of one dry run.

import { AGENT_CAPABILITIES, asTokenId, type Json } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { afterEach, expect, test } from 'vitest'
import { createRunDry } from '../../../loops/controllers/planning/run-dry.ts'
import { someTenant } from '../../../store/records.fixture.ts'
import { jobs, nodes, tokens } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { realIds as ids } from '../../../system-clock.ts'
import type { DeploymentDeps } from '../deps.ts'
import { dryRunDocuments } from './dry-run-documents.ts'

const TOKEN = asTokenId('tok_01JCPZ0000000000000000000A')
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const NO_SECRETS = {
  currentVersion: () => Promise.reject(new Error('no secrets here')),
  writeVersion: () => Promise.reject(new Error('no secrets here')),
  destroyVersion: () => Promise.reject(new Error('no secrets here')),
}
const quotas: DeploymentDeps['quotas'] = {
  limit: (_tenant, kind) => (kind === 'jobs_running' ? 1 : 2 ** 40),
  list: () => ({ items: [] }),
}
const digest = `sha256:${'d'.repeat(64)}`

const depsOn = (store: Store): DeploymentDeps => ({
  ...deploymentDeps(store, NO_SECRETS),
  ...{ clock, quotas, broker: { checkImage: async () => ({ kind: 'exists', digest }) } },
})

/** Plans the documents on a tenant with one node; the quota is one job at a time. */
async function plan(documents: readonly Json[]) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
  })
  await store.fresh()
  await write(store, (transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, nodeId))
    if (node === undefined) throw new Error('the node is missing')
    const agent = { version: '1', capabilities: [...AGENT_CAPABILITIES] }
    transaction.put(inTenant(tenant, nodes, nodeId), { ...node, agent })
  })
  const residency = { enforcement: true, regions: {} }
  const runDry = createRunDry({ clock, ids, residency, archiveRevisions: 10, quotasOn: () => quotas })
  const caller = { tenant, token: TOKEN, role: 'developer', onBehalf: false, requestId: 'r' } as const
  const deps = { store, quotas, residency, clock, runDry, depsOn: () => depsOn }
  const planned = await dryRunDocuments(deps, caller, { documents: [...documents] })
  if (!planned.ok) throw new Error(JSON.stringify(planned))
  return { items: planned.value.items, stored: store.keysOf(jobs, tenant).length }
}

const IMAGE = 'registry.test/web:1.0'
const JOB = { kind: 'Job', name: 'migrate', image: IMAGE }
const DEPLOYMENT = { kind: 'Deployment', name: 'web', image: IMAGE }

test('a job among the documents is planned with its node and its start, and not stored', async () => {
  const { items, stored } = await plan([JOB, DEPLOYMENT])
  expect(items).toMatchObject([
    {
      ...{ kind: 'Job', name: 'migrate', action: 'create' },
      plan: {
        placement: { placed: ['n1'], unplaced: 0 },
        steps: [{ kind: 'start', deployment: 'migrate', text: 'Run job migrate on node n1.' }],
        effects: { unplaced: [] },
      },
    },
    { kind: 'Deployment', name: 'web', action: 'create' },
  ])
  expect(stored).toBe(0)
})

test('a job that no node accepts is an effect of the documents before it', async () => {
  const half = { resources: { cpuMillis: 600 } }
  const { items } = await plan([
    { ...JOB, ...half },
    { ...DEPLOYMENT, ...half },
  ])
  expect(items[0]).toMatchObject({
    action: 'create',
    plan: { placement: { placed: [], unplaced: 1 }, effects: { unplaced: [{ deployment: 'migrate' }] } },
  })
})

test('jobs of one request share their quota, and each is rejected by the rules of a job', async () => {
  const { items } = await plan([JOB, JOB, { ...JOB, replicas: 2 }])
  const codes = items.map((item) => ('rejections' in item ? item.rejections.map(({ code }) => code) : []))
  expect(codes).toEqual([[], ['quota_exceeded'], ['field_unknown']])
})
