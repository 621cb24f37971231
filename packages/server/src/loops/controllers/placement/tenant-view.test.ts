// Tests that a view updated change by change gives the same results as a view rebuilt from all records.

import {
  type Assignment,
  type AssignmentId,
  asOwner,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import type { Workload } from '@holdfast/core'
import { createSchedulingView } from '@holdfast/core/placement'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gatherTenantFacts } from '../../../scheduling/scheduling-facts.ts'
import type { CachedRecord } from '../../../store/cache/record-index.ts'
import { aCanary, aDeployment, aSpec, someTenant } from '../../../store/records.fixture.ts'
import {
  type Collection,
  deployments,
  nodeNames,
  nodes,
  placements,
  type StoredNode,
  type StoredPlacement,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { Address } from '../../../store/transaction.ts'
import { createTenantView } from './tenant-view.ts'

const tenant: TenantId = someTenant()
const quotas = { limit: () => 1_000 }

/** Records in a map, with the part of the store interface that a view reads. */
function records() {
  const kept = new Map<string, CachedRecord<unknown>>()
  let revision = 0
  const keyOf = (collection: Collection<unknown>, id: string) => `${collection.folder}/${id}`
  const store: Pick<Store, 'get' | 'list'> = {
    get: <T>({ collection, id }: Address<T>) =>
      kept.get(keyOf(collection, id)) as CachedRecord<T> | undefined,
    list: <T>(collection: Collection<T>) =>
      [...kept].flatMap(([key, found]) =>
        key.startsWith(`${collection.folder}/`) ? [found as CachedRecord<T>] : [],
      ),
  }
  return {
    store,
    put<T>(collection: Collection<T>, id: string, record: T) {
      revision += 1
      kept.set(keyOf(collection, id), { record, modRevision: revision })
      return revision
    },
    delete: (collection: Collection<unknown>, id: string) => kept.delete(keyOf(collection, id)),
  }
}

const nodeId = (index: number) => `node_${index}` as NodeId
const uidOf = (index: number) => `dep_${index}` as DeploymentUid
const owner = (index: number) => ownerOf('deployment', uidOf(index))
const assigned = (uid: DeploymentUid, index: number, on: number): Assignment => ({
  id: `rep_${uid}_${index}_${on}` as AssignmentId,
  replica: index,
  nodeId: nodeId(on),
  revision: 1,
  templateHash: 'h',
  desired: 'running',
  assignedAt: '',
})
const aNode = (index: number, cpuMillis: number, schedulable: boolean): StoredNode => ({
  ...{
    v: 1,
    id: nodeId(index),
    name: `n${index}`,
    generation: 1,
    publicKey: '',
    encryptionKey: '',
    labels: {},
  },
  attested: {},
  controlPlane: false,
  schedulable,
  capacity: { cpuMillis, memoryBytes: 10_000 },
  engine: { version: '', apiVersion: '' },
  status: 'ready',
  statusSince: '',
  createdAt: '',
  slot: 0,
  session: { replica: null, epoch: 0, bootId: '' },
})
const aPlacement = (index: number, on: readonly number[]): StoredPlacement => ({
  v: 1,
  owner: owner(index),
  name: `d${index}`,
  revision: 1,
  everAssigned: true,
  templates: {},
  ...{
    reportedRefusals: '',
    reportedPhase: '',
    assignments: on.map((each, at) => assigned(uidOf(index), at + 1, each)),
  },
})

const small = fc.integer({ min: 0, max: 4 })
const step = fc.oneof(
  fc.record({
    kind: fc.constant('node' as const),
    index: small,
    cpu: fc.integer({ min: 0, max: 900 }),
    open: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('no node' as const), index: small }),
  fc.record({ kind: fc.constant('placement' as const), index: small, on: fc.array(small, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant('no placement' as const), index: small }),
  fc.record({ kind: fc.constant('requests' as const), index: small, cpu: fc.integer({ min: 0, max: 300 }) }),
)

const workload: Workload = {
  name: 'next',
  resources: { cpuMillis: 100, memoryBytes: 1 },
  placement: { antiAffinity: ['d1'] },
  nodeId: undefined,
  residency: undefined,
  ofPlatform: false,
  needs: [],
}

describe('a tenant view', () => {
  test('decides like a rebuilt one after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { store, put, delete: remove } = records()
        const view = createTenantView(store, quotas, tenant)
        for (const each of steps) {
          const { index } = each
          if (each.kind === 'node') {
            put(nodes, nodeId(index), aNode(index, each.cpu, each.open))
            put(nodeNames, `n${index}`, {
              v: 1,
              claims: [{ tenant, nodeId: nodeId(index), state: 'active' }],
            })
          }
          if (each.kind === 'no node') remove(nodes, nodeId(index))
          if (each.kind === 'placement') put(placements, owner(index), aPlacement(index, each.on))
          if (each.kind === 'no placement') remove(placements, owner(index))
          if (each.kind === 'requests') {
            const resources = { cpuMillis: each.cpu, memoryBytes: 1 }
            const spec = { ...aSpec(`d${index}`), resources }
            put(deployments, `d${index}`, aDeployment(`d${index}`, { uid: uidOf(index), spec }))
          }
          if (each.kind === 'node' || each.kind === 'no node') view.applyNode(nodeId(index))
          else view.applyPlacement(owner(index))
        }
        const rebuilt = createSchedulingView(gatherTenantFacts(store, quotas, tenant))
        expect(view.scheduling.candidates(workload)).toEqual(rebuilt.candidates(workload))
        expect(view.scheduling.place(workload, 3)).toEqual(rebuilt.place(workload, 3))
      }),
      { numRuns: 500 },
    )
  })

  test('counts the containers and requests of an owner of an unknown kind, but not as a deployment', () => {
    const { store, put, delete: remove } = records()
    put(nodes, nodeId(1), aNode(1, 250, true))
    put(nodeNames, 'n1', { v: 1, claims: [{ tenant, nodeId: nodeId(1), state: 'active' }] })
    const job = asOwner('cron/cron_1')
    // The name of the job is that of the deployment in the anti-affinity rule of the workload.
    put(placements, job, { ...aPlacement(1, [1]), owner: job, resources: workload.resources })
    const view = createTenantView(store, { limit: () => 2 }, tenant)
    expect(view.roomBeside(owner(1))).toBe(1)
    expect(view.deploymentsOn(nodeId(1))).toEqual([])
    expect(view.scheduling.place(workload, 2)).toMatchObject({ placed: [nodeId(1)], unplaced: 1 })
    expect(gatherTenantFacts(store, quotas, tenant)).toMatchObject({
      nodes: [{ requested: { cpuMillis: 100 }, replicas: new Map([['cron/cron_1', 1]]) }],
      containers: { used: 1 },
    })
    remove(placements, job)
    expect(view.applyPlacement(job)).toBe('freed')
    expect(view.scheduling.place(workload, 2)).toMatchObject({ unplaced: 0 })
  })

  test('counts what the replicas of a canary request beside what the others request', () => {
    const { store, put } = records()
    put(nodes, nodeId(1), aNode(1, 1_000, true))
    put(nodeNames, 'n1', { v: 1, claims: [{ tenant, nodeId: nodeId(1), state: 'active' }] })
    const canary = aCanary({ resources: { cpuMillis: 500, memoryBytes: 1 } })
    const spec = { ...aSpec('d1'), resources: { cpuMillis: 100, memoryBytes: 1 } }
    const stored = aDeployment('d1', { uid: uidOf(1), spec, canary })
    put(deployments, 'd1', stored)
    const [own, marked] = [1, 2].map((each) => assigned(uidOf(1), each, 1))
    if (own === undefined || marked === undefined) throw new Error('two assignments are expected')
    put(placements, owner(1), { ...aPlacement(1, []), assignments: [own, { ...marked, canary: true }] })
    const view = createTenantView(store, quotas, tenant)
    const free = { ...workload, placement: undefined }
    const fitting = () => view.scheduling.place(free, 10).placed.length
    expect(fitting()).toBe(4)
    expect(gatherTenantFacts(store, quotas, tenant).nodes).toMatchObject([{ requested: { cpuMillis: 600 } }])
    // The containers of an aborted canary use their capacity until they are gone.
    put(deployments, 'd1', { ...stored, canary: { ...canary, phase: 'aborted' } })
    view.applyPlacement(owner(1))
    expect(fitting()).toBe(4)
    put(placements, owner(1), { ...aPlacement(1, []), assignments: [own] })
    expect(view.applyPlacement(owner(1))).toBe('freed')
    expect(fitting()).toBe(9)
  })

  test('holds a reservation until the cache shows a newer record than the one it was planned from', () => {
    const { store, put } = records()
    put(nodes, nodeId(1), aNode(1, 250, true))
    put(nodeNames, 'n1', { v: 1, claims: [{ tenant, nodeId: nodeId(1), state: 'active' }] })
    put(
      deployments,
      'd1',
      aDeployment('d1', { uid: uidOf(1), spec: { ...aSpec('d1'), resources: workload.resources } }),
    )
    const decidedOn = put(placements, owner(1), aPlacement(1, []))
    const view = createTenantView(store, quotas, tenant)
    const free = { ...workload, placement: undefined }
    const reserved = {
      name: 'd1',
      resources: workload.resources,
      assignments: aPlacement(1, [1, 1]).assignments,
    }
    view.reserve(owner(1), reserved, decidedOn)
    expect(view.scheduling.place(free, 1).unplaced).toBe(1)
    // A record in the cache that is older than the plan does not end the reservation; `release` does.
    expect(view.applyPlacement(owner(1))).toBe('none')
    expect(view.scheduling.place(free, 1).unplaced).toBe(1)
    view.release(owner(1))
    expect(view.scheduling.place(free, 3)).toMatchObject({ placed: [nodeId(1), nodeId(1)], unplaced: 1 })
    view.reserve(owner(1), reserved, decidedOn)
    put(placements, owner(1), aPlacement(1, [1, 1]))
    expect(view.applyPlacement(owner(1))).toBe('grown')
    put(placements, owner(1), aPlacement(1, [1]))
    expect(view.applyPlacement(owner(1))).toBe('freed')
    expect(view.scheduling.place(free, 1).unplaced).toBe(0)
  })
})
