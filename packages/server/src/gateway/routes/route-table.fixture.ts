// In-memory records for tests of the route table, and a fake agent that receives only the changes of its routes.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentUid,
  type NodeId,
  type Observation,
  ownerOf,
  type Route,
  type RoutedDeployment,
  type TenantId,
} from '@holdfast/contract'
import { type Change, createRecordIndex } from '../../store/cache/record-index.ts'
import { encodeRecord } from '../../store/encode.ts'
import { createKeyspace } from '../../store/keys.ts'
import { aDeployment, aSpec } from '../../store/records.fixture.ts'
import {
  type Collection,
  deployments,
  nodes,
  observations,
  type StoredNode,
  tenants,
} from '../../store/records.ts'
import { type Address, globally, inTenant, placementAt } from '../../store/transaction.ts'
import type { NodeAddress } from '../deps.ts'
import { createDesiredIndex } from '../desired/desired-index.ts'

const TIME = '2026-01-01T00:00:00.000Z'
export const id26 = (number: number): string => String(number).padStart(26, '0')
export const TENANTS = ['1', '2'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111` as TenantId)
export const [ACME, GLOBEX] = TENANTS as [TenantId, TenantId]
export const NODES = [0, 1, 2, 3].map((n) => `node_${id26(n)}` as NodeId)
export const UIDS = [0, 1, 2].map((n) => `dep_${id26(n)}` as DeploymentUid)
export const NAMES = ['web', 'api']
export const IDS = [0, 1, 2, 3, 4].map((n) => `rep_${id26(n)}` as AssignmentId)

/** Creates records in memory, with the same index as the server's cache but without etcd. */
export function createRecords() {
  const keyspace = createKeyspace('/t')
  const index = createRecordIndex(keyspace, { reads: 1, onUnreadable: () => {} })
  let revision = 0
  const keyOf = ({ collection, tenant, id }: Address<unknown>): string =>
    tenant === undefined
      ? keyspace.globalKey(collection.folder, id)
      : keyspace.tenantKey(tenant, collection.folder, id)
  const putBytes = (address: Address<unknown>, value: Uint8Array): Change[] => {
    revision += 1
    const at = { createRevision: revision, modRevision: revision, version: 1 }
    const key = index.put({ key: keyOf(address), value, ...at })
    return key === undefined ? [] : [{ kind: 'put', key }]
  }
  return {
    store: {
      get: <T>({ collection, tenant, id }: Address<T>) => index.get(collection, tenant, id),
      list: <T>(collection: Collection<T>, tenant?: TenantId) => index.list(collection, tenant),
      keysOf: (collection: Collection<unknown>, tenant: TenantId) => index.keysOf(collection, tenant),
    },
    put: <T>(address: Address<T>, record: T) => putBytes(address, encodeRecord(address.collection, record)),
    corrupt: (address: Address<unknown>) => putBytes(address, Buffer.from('{}')),
    delete(address: Address<unknown>): Change[] {
      const key = index.delete(keyOf(address))
      return key === undefined ? [] : [{ kind: 'delete', key }]
    },
  }
}
export type Records = ReturnType<typeof createRecords>

export const aNode = (id: NodeId, changes: Partial<StoredNode>): StoredNode => ({
  v: 1,
  id,
  name: id.replace('_', '-'),
  generation: 1,
  publicKey: '',
  encryptionKey: '',
  labels: {},
  attested: {},
  controlPlane: false,
  schedulable: true,
  capacity: { cpuMillis: 1, memoryBytes: 1 },
  engine: { version: '', apiVersion: '' },
  status: 'ready' as const,
  statusSince: TIME,
  session: { replica: null, epoch: 0, bootId: '' },
  createdAt: TIME,
  slot: 0,
  ...changes,
})

export const aPlacement = (uid: DeploymentUid, assignments: Assignment[]) => ({
  v: 1,
  owner: ownerOf('deployment', uid),
  name: 'web',
  revision: 1,
  everAssigned: true,
  assignments,
  templates: {},
  reportedRefusals: '',
  reportedPhase: '',
})

export const anAssignment = (
  id: AssignmentId,
  nodeId: NodeId,
  desired: Assignment['desired'],
): Assignment => ({
  id,
  replica: 1,
  nodeId,
  revision: 1,
  templateHash: 'h',
  desired,
  assignedAt: TIME,
})

export const anObservation = (id: AssignmentId, state: Observation['state'], reason = '') => ({
  v: 1,
  assignmentId: id,
  generation: 1,
  seq: 1,
  state,
  reason,
  containerId: null,
  startedAt: null,
  exitCode: null,
  restarts: 0,
  gone: false,
  at: TIME,
  owner: ownerOf('deployment', UIDS[0] as DeploymentUid),
  nodeId: NODES[0] as NodeId,
})

const route = (host: string): Route => ({ host, path: '/', port: 80 })

export function aDeploymentOf(name: string, uid: DeploymentUid, hosts: readonly string[], deleting = false) {
  return aDeployment(name, { uid, deleting, spec: { ...aSpec(name), routes: hosts.map(route) } })
}

export function begin() {
  const records = createRecords()
  for (const tenant of TENANTS)
    records.put(globally(tenants, tenant), {
      v: 1,
      id: tenant,
      name: 't',
      createdAt: TIME,
      platform: false,
      quotas: {},
      revision: 1,
      deleting: false,
    })
  return records
}

/** Simulates the agents: collects the routes that each node receives, only from the messages to the node. */
export function createListener(records: Records) {
  const index = createDesiredIndex(records.store)
  const known = new Map<string, Map<DeploymentUid, RoutedDeployment>>()
  const nameOf = ({ tenant, nodeId }: NodeAddress) => `${tenant} ${nodeId}`
  const notified: string[] = []
  return {
    index,
    notified,
    apply(changes: Change[]) {
      index.apply(changes, (node, changed) => {
        if (!changed.startsWith('dep_')) return
        const uid = changed as DeploymentUid
        notified.push(`${nameOf(node)} ${uid}`)
        const own = known.get(nameOf(node)) ?? new Map()
        known.set(nameOf(node), own)
        own.set(uid, undefined)
      })
      for (const [name, own] of known) {
        const [tenant, nodeId] = name.split(' ') as [TenantId, NodeId]
        for (const [uid, known] of own) {
          const route = known === undefined ? index.routes.routeFor({ tenant, nodeId }, uid) : undefined
          if (route === null) own.delete(uid)
          else if (route !== undefined) own.set(uid, route)
        }
      }
    },
    /** Sends the node all its routes, as at the start of a session. */
    restart(node: NodeAddress) {
      const all = index.routes.routesFor(node).map((routed) => [routed.deployment, routed] as const)
      known.set(nameOf(node), new Map(all))
    },
    knows: (node: NodeAddress) => [...(known.get(nameOf(node))?.values() ?? [])],
  }
}

/** Computes a node's expected routes from all records, independently of the route table. */
export function expectedRoutes({ store }: Records, { tenant, nodeId }: NodeAddress): RoutedDeployment[] {
  const own = store.get(inTenant(tenant, nodes, nodeId))?.record.peerAddress
  return store
    .list(deployments, tenant)
    .filter(({ record }) => !record.deleting && (record.spec.routes?.length ?? 0) > 0)
    .map(({ record: { uid, spec } }) => {
      const placed = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.assignments ?? []
      const addresses = placed
        .filter(({ desired }) => desired === 'running')
        .filter(({ id }) => {
          const seen = store.get(inTenant(tenant, observations, id))?.record
          return seen?.state === 'ready' && seen.reason === ''
        })
        .filter((assignment) => assignment.nodeId !== nodeId)
        .map((assignment) => store.get(inTenant(tenant, nodes, assignment.nodeId))?.record)
        .flatMap((node) => (node?.status === 'ready' && node.peerAddress ? [node.peerAddress] : []))
        .filter((address) => address !== own)
      const peers = [...new Set(addresses)].sort()
      return { deployment: uid, name: spec.name, routes: spec.routes ?? [], peers }
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
}

/** Creates an assignment. Its id alone determines its deployment and node, because in real records these never change. */
export function ofReplica(uid: DeploymentUid, n: number, desired: Assignment['desired']): Assignment {
  const number = Number(uid.slice(4)) * 3 + n
  return anAssignment(`rep_${id26(number)}` as AssignmentId, NODES[number % NODES.length] as NodeId, desired)
}

/** Creates two tenants whose records have the same ids. Every deployment is running and routed. */
export function beginRunning(): Records {
  const records = begin()
  for (const owner of TENANTS) {
    for (const nodeId of NODES) {
      const peerAddress = `${owner[0]}-${nodeId.at(-1)}-a:80`
      records.put(inTenant(owner, nodes, nodeId), aNode(nodeId, { peerAddress }))
    }
    for (const [n, name] of NAMES.entries()) {
      const uid = UIDS[n] as DeploymentUid
      const assignments = [0, 1, 2].map((replica) => ofReplica(uid, replica, 'running'))
      records.put(inTenant(owner, deployments, name), aDeploymentOf(name, uid, [`${name}.example`]))
      records.put(placementAt(owner, ownerOf('deployment', uid)), aPlacement(uid, assignments))
      for (const { id } of assignments)
        records.put(inTenant(owner, observations, id), anObservation(id, 'ready'))
    }
  }
  return records
}
