// Tests what a dry run states about jobs: the attempts that it starts, and those that it ends.

import { AGENT_CAPABILITIES, asAssignmentId, type JobSpec, type NodeId, ownerOf } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { done, type Outcome } from '../../../operations/caller.ts'
import { cancelJobs } from '../../../operations/jobs/cancel-job.ts'
import { createOverlayStore } from '../../../store/overlay-store.ts'
import { aJob } from '../../../store/records.fixture.ts'
import {
  jobs,
  nodes,
  observations,
  type StoredJob,
  type StoredNode,
  tenants,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant, placementAt } from '../../../store/transaction.ts'
import { aRollout, NOW, tenant } from './cached-cluster.fixture.ts'
import { createRunDry } from './run-dry.ts'

const CURRENT = asAssignmentId('rep_job')
const OWNER = ownerOf('job', aJob().id)
const NODE = `node_${'0'.repeat(26)}` as NodeId

/** A tenant with two nodes; the job given runs on the first one if it has an attempt. */
function cluster(job?: StoredJob, state: Partial<StoredNode> = {}) {
  const { deps } = aRollout(1, 2)
  const before = createOverlayStore(deps.store, deps.ids)
  for (const { record } of before.list(nodes, tenant))
    before.put(inTenant(tenant, nodes, record.id), {
      ...record,
      ...state,
      agent: { version: '1', capabilities: [...AGENT_CAPABILITIES] },
    })
  if (job !== undefined) before.put(inTenant(tenant, jobs, job.id), job)
  if (job?.current !== undefined) {
    before.put(placementAt(tenant, OWNER), {
      ...{ v: 1, owner: OWNER, name: 'migrate', revision: 1, everAssigned: true, templates: {} },
      ...{ reportedRefusals: '', reportedPhase: '', resources: job.spec.resources },
      assignments: [
        {
          ...{ id: CURRENT, replica: 1, nodeId: NODE, revision: 1, templateHash: 'h' },
          ...{ desired: 'running', assignedAt: NOW },
        },
      ],
    })
    before.put(inTenant(tenant, observations, CURRENT), {
      ...{ v: 1, assignmentId: CURRENT, owner: OWNER, nodeId: NODE, at: NOW, generation: 1, seq: 1 },
      ...{ state: 'ready', containerId: 'c', startedAt: NOW, exitCode: null, restarts: 0, reason: '' },
      gone: false,
    })
  }
  const plan = async <T>(act: (store: Store) => Promise<Outcome<T>>) => {
    const outcome = await createRunDry(deps)(tenant, before, act)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome))
    return outcome.value
  }
  return { plan }
}

const running = (spec: Partial<JobSpec> = {}): StoredJob =>
  aJob(spec, {
    ...{ phase: 'running', current: CURRENT, last: CURRENT, attempts: 1, nodeId: NODE, nodeName: 'a' },
    ...{ startedAt: NOW, deadlineAt: '2026-01-01T01:00:00.000Z' },
  })

const cancel = (store: Store) => cancelJobs(store, tenant).then(() => done(undefined))

const removeNode = (store: Store) =>
  store.transact((transaction) => {
    transaction.delete(inTenant(tenant, nodes, NODE))
    return { kind: 'commit' as const, result: done(undefined) }
  })

test('a dry run that cancels a job states its stop and no start', async () => {
  const { plan } = cluster(running())
  const { change, after } = await plan(cancel)
  expect(change.steps).toMatchObject([{ deployment: 'migrate', kind: 'stop' }])
  expect(change.steps[0]?.text).toBe('Job migrate is cancelled: its container on node a stops.')
  expect(change.effects.stops).toEqual([
    { deployment: 'migrate', replica: 1, node: 'a', reason: 'not_desired' },
  ])
  expect(after.get(inTenant(tenant, jobs, aJob().id))?.record.phase).toBe('cancelled')
  expect(after.has(placementAt(tenant, OWNER))).toBe(false)
})

test('a dry run that removes a node by force states the end of the job on it', async () => {
  const { plan } = cluster(running())
  const { change } = await plan(removeNode)
  const own = change.steps.filter(({ deployment }) => deployment === 'migrate')
  expect(own.map(({ kind, text }) => [kind, text])).toEqual([
    ['stop', 'The attempt of job migrate ends with node a, which is removed.'],
  ])
  const [stop] = change.effects.stops
  expect(stop).toEqual({ deployment: 'migrate', replica: 1, node: 'a', reason: 'node_lost' })
})

test('a dry run that removes the node of a job with retries states that another attempt follows', async () => {
  const { plan } = cluster(running({ retries: 1 }))
  const { change } = await plan(removeNode)
  const own = change.steps.find(({ deployment }) => deployment === 'migrate')
  expect(own?.text).toBe(
    'The attempt of job migrate ends with node a, which is removed. Another attempt follows.',
  )
})

test('a dry run that deletes a tenant states the stops of its jobs', async () => {
  const { plan } = cluster(running())
  const { change } = await plan((store) =>
    store.transact((transaction) => {
      transaction.put(globally(tenants, tenant), {
        ...{ v: 1, id: tenant, name: 't', platform: false, deleting: true, createdAt: NOW },
        ...{ quotas: {}, revision: 1 },
      })
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  expect(change.effects.stops).toContainEqual({
    ...{ deployment: 'migrate', replica: 1, node: 'a', reason: 'not_desired' },
  })
})

test('a dry run that creates a job states its start', async () => {
  const { plan } = cluster()
  const { change } = await plan((store) =>
    store.transact((transaction) => {
      transaction.put(inTenant(tenant, jobs, aJob().id), aJob())
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  expect(change.steps).toMatchObject([{ deployment: 'migrate', kind: 'start' }])
  expect(change.effects.stops).toEqual([])
})

test('a dry run that cancels a job without a container states nothing', async () => {
  const { plan } = cluster(aJob({ nodeId: 'node_none' as NodeId }, { reason: 'unschedulable' }))
  const { change } = await plan(cancel)
  expect([change.steps, change.effects.stops, change.effects.unplaced]).toEqual([[], [], []])
})

const uncordon = (store: Store) =>
  store.transact((transaction) => {
    const address = inTenant(tenant, nodes, NODE)
    const node = transaction.get(address)
    if (node === undefined) throw new Error('the node is missing')
    transaction.put(address, { ...node, schedulable: true })
    return { kind: 'commit' as const, result: done(undefined) }
  })

test('a dry run that uncordons a node states the start of a job that waits for one', async () => {
  const waiting = aJob({}, { reason: 'unschedulable', unplaced: '0 of 2 nodes fit: 2 cordoned.' })
  const { plan } = cluster(waiting, { schedulable: false })
  const { change } = await plan(uncordon)
  const own = change.steps.filter(({ deployment }) => deployment === 'migrate')
  expect(own.map(({ kind, replicas }) => [kind, replicas[0]?.nodeId])).toEqual([['start', NODE]])
})

test('a dry run states no start of a job that would start without the change', async () => {
  const { plan } = cluster(aJob())
  const { change } = await plan(uncordon)
  expect(change.steps.filter(({ deployment }) => deployment === 'migrate')).toEqual([])
})
