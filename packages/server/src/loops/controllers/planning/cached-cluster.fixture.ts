// For tests only: the nodes of a tenant and a deployment that runs on them, as cached records without a store.

import { randomUUID } from 'node:crypto'
import {
  type AssignmentId,
  type DeploymentSpec,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import type { Quotas } from '../../../quotas/quotas.ts'
import { createRecordIndex } from '../../../store/cache/record-index.ts'
import { encodeRecord } from '../../../store/encode.ts'
import { createKeyspace } from '../../../store/keys.ts'
import { FORMS } from '../../../store/records/collection.ts'
import { aDeployment, aSpec } from '../../../store/records.fixture.ts'
import {
  type Collection,
  deployments,
  nodeNames,
  nodes,
  observations,
  placements,
  type StoredDeployment,
  type StoredObservation,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { PlanAheadDeps } from './plan-ahead.ts'

export const NOW = '2026-01-01T00:00:00.000Z'
export const tenant = randomUUID() as TenantId

function aCluster(machines: number) {
  const keyspace = createKeyspace()
  const index = createRecordIndex(keyspace, {
    reads: 1,
    onUnreadable(_key, error) {
      throw error
    },
  })
  let revision = 1
  const enter = <T>(key: string, collection: Collection<T>, record: T): void => {
    revision += 1
    const value = encodeRecord(collection, record)
    index.put({ key, value, createRevision: revision, modRevision: revision, version: 1 })
  }
  const put = <T>(collection: Collection<T>, id: string, record: T): void =>
    enter(keyspace.tenantKey(tenant, collection.folder, id), collection, record)
  const ids = Array.from({ length: machines }, (_, at) => `node_${String(at).padStart(26, '0')}` as NodeId)
  for (const id of ids) {
    put(nodes, id, {
      v: 1,
      id,
      name: id,
      generation: 1,
      publicKey: '',
      encryptionKey: '',
      labels: {},
      attested: {},
      ...{
        controlPlane: false,
        schedulable: true,
        status: 'ready',
        statusSince: NOW,
        createdAt: NOW,
        slot: 0,
      },
      capacity: { cpuMillis: 4_000, memoryBytes: 2 ** 33 },
      engine: { version: '', apiVersion: '' },
      session: { replica: null, epoch: 1, bootId: 'boot' },
    })
    const claims = [{ tenant, nodeId: id, state: 'active' as const }]
    enter(keyspace.globalKey(nodeNames.folder, id), nodeNames, { v: 1, claims })
  }
  const store: Store = {
    keyspace,
    forms: FORMS,
    finalize: 'auto',
    clusterId: undefined,
    fault: undefined,
    fail: () => {},
    get revision() {
      return revision
    },
    get: ({ collection, tenant: owner, id }) => index.get(collection, owner, id),
    has: ({ collection: { folder }, tenant: owner, id }) =>
      index.find(owner === undefined ? { folder, id } : { tenant: owner, folder, id }) !== undefined,
    list: (collection, owner) => index.list(collection, owner),
    listWithIds: (collection) =>
      index.keysOf(collection, undefined).flatMap(({ id }) => {
        const found = index.get(collection, undefined, id)
        return found === undefined ? [] : [{ ...found, id }]
      }),
    keysOf: (collection, owner) => index.keysOf(collection, owner),
    storedBytes: () => 0,
    bytesOf: () => 0,
    fresh: async () => {},
    read: async (_collection, keys) => keys.map(() => undefined),
    transact: () => Promise.reject(new Error('cached records cannot be written')),
    subscribe: () => () => {},
    close: () => {},
  }
  const quotas: CachedDeps['quotas'] = { limit: () => 1_000 }
  const deps: CachedDeps = {
    store,
    quotas,
    quotasOn: () => quotas,
    residency: { enforcement: true, regions: {} },
    clock: { now: () => Date.parse(NOW) },
    ids: { ulid: () => '0'.repeat(26) },
    archiveRevisions: 10,
  }
  return { deps, put, ids }
}

interface CachedDeps extends PlanAheadDeps {
  readonly store: Store
  readonly quotas: Pick<Quotas, 'limit'>
}

interface Rollout {
  readonly deps: CachedDeps
  readonly next: StoredDeployment
}

/** A deployment during an update: ready replicas of an outdated revision, spread over the nodes. */
export function aRollout(
  replicas: number,
  machines: number,
  spec: Partial<DeploymentSpec> = {},
  seen: Partial<StoredObservation> = {},
): Rollout {
  const { deps, put, ids } = aCluster(machines)
  const uid = `dep_${'0'.repeat(26)}` as DeploymentUid
  const owner = ownerOf('deployment', uid)
  const digest = `sha256:${'d'.repeat(64)}`
  const next = aDeployment('web', { uid, digest, revision: 2, spec: { ...aSpec('web'), replicas, ...spec } })
  put(deployments, 'web', next)
  const assignments = Array.from({ length: replicas }, (_, at) => {
    const id = `asg_${at}` as AssignmentId
    const nodeId = ids[at % ids.length] ?? ('' as NodeId)
    put(observations, id, {
      v: 1,
      assignmentId: id,
      owner,
      nodeId,
      at: NOW,
      generation: 1,
      seq: 1,
      state: 'ready',
      containerId: null,
      startedAt: NOW,
      exitCode: null,
      restarts: 0,
      reason: '',
      gone: false,
      ...seen,
    })
    return {
      id,
      replica: at + 1,
      nodeId,
      revision: 1,
      templateHash: 'old',
      desired: 'running' as const,
      assignedAt: NOW,
    }
  })
  put(placements, owner, {
    v: 1,
    owner,
    name: 'web',
    revision: 1,
    assignments,
    everAssigned: true,
    templates: {},
    reportedRefusals: '',
    reportedPhase: 'Running',
    ranRevision: 1,
  })
  return { deps, next }
}
