// Writes nodes and placements to the store as enrollment and the scheduler would.

import { randomUUID } from 'node:crypto'
import {
  type Assignment,
  type AssignmentId,
  type ContainerTemplate,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
  ulid,
} from '@holdfast/contract'
import { nodes, type StoredNode, type StoredPlacement, tenants } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realIds } from '@holdfast/server/system-clock'
import { makeSimulatedKeys, type SimulatedKeys, type SimulatedNode } from '@holdfast/testkit'

const TIME = '2026-01-01T00:00:00.000Z'
const newUlid = (): string => ulid(Date.now(), realIds.bytes(10))

export interface EnrolledNode extends SimulatedNode, SimulatedKeys {
  readonly tenant: TenantId
}

export async function addTenant(store: Store): Promise<TenantId> {
  const id = randomUUID() as TenantId
  await write(store, (transaction) =>
    transaction.put(globally(tenants, id), {
      v: 1,
      id,
      name: id.slice(0, 8),
      createdAt: TIME,
      platform: false,
      quotas: {},
      revision: 1,
      deleting: false,
    }),
  )
  return id
}

function aNode(keys: SimulatedKeys, changes: Partial<StoredNode> = {}): StoredNode {
  const id = `node_${newUlid()}` as NodeId
  return {
    v: 1,
    id,
    name: id.toLowerCase().replace('_', '-'),
    generation: 1,
    publicKey: keys.publicKey,
    encryptionKey: keys.encryptionKey,
    labels: {},
    attested: {},
    controlPlane: false,
    schedulable: true,
    capacity: { cpuMillis: 2_000, memoryBytes: 4 * 1024 ** 3 },
    engine: { version: '29.0.0', apiVersion: '1.52' },
    status: 'pending',
    statusSince: TIME,
    session: { replica: null, epoch: 0, bootId: '' },
    createdAt: TIME,
    slot: 0,
    ...changes,
  }
}

export async function enroll(
  store: Store,
  tenant: TenantId,
  changes: Partial<StoredNode> = {},
): Promise<EnrolledNode> {
  const keys = makeSimulatedKeys()
  const node = aNode(keys, changes)
  await write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), node))
  return { ...keys, tenant, nodeId: node.id, generation: node.generation }
}

/** Enrolls many nodes in one transaction, so their number must stay below some dozens. */
export async function enrollMany(store: Store, tenant: TenantId, count: number): Promise<EnrolledNode[]> {
  const made = Array.from({ length: count }, () => {
    const keys = makeSimulatedKeys()
    return { keys, node: aNode(keys) }
  })
  await write(store, (transaction) => {
    for (const { node } of made) transaction.put(inTenant(tenant, nodes, node.id), node)
  })
  return made.map(({ keys, node }) => ({ ...keys, tenant, nodeId: node.id, generation: 1 }))
}

const TEMPLATE: ContainerTemplate = {
  name: 'web',
  image: `registry.example:5000/app@sha256:${'a'.repeat(64)}`,
  environment: { MODE: 'test' },
  labels: {},
  stopGracePeriod: '10s',
}

export const anAssignment = (nodeId: NodeId, changes: Partial<Assignment> = {}): Assignment => ({
  id: `rep_${newUlid()}` as AssignmentId,
  replica: 0,
  nodeId,
  revision: 1,
  templateHash: 'hash-1',
  desired: 'running',
  assignedAt: TIME,
  ...changes,
})

const newUid = (): DeploymentUid => `dep_${newUlid()}` as DeploymentUid

export const aPlacement = (assignments: Assignment[], uid = newUid()): StoredPlacement => ({
  v: 1,
  owner: ownerOf('deployment', uid),
  name: 'web',
  revision: 1,
  everAssigned: true,
  assignments,
  templates: { 'hash-1': TEMPLATE },
  reportedRefusals: '',
  reportedPhase: '',
})

/** Writes the complete placement of a deployment: a second call with the same uid replaces the first placement. */
export async function place(
  store: Store,
  tenant: TenantId,
  assignments: Assignment[],
  uid = newUid(),
): Promise<DeploymentUid> {
  const placement = aPlacement(assignments, uid)
  await write(store, (transaction) => transaction.put(placementAt(tenant, placement.owner), placement))
  return uid
}

type Writing = Parameters<Parameters<Store['transact']>[0]>[0]

export function write(store: Store, put: (transaction: Writing) => void): Promise<undefined> {
  return store.transact((transaction) => {
    put(transaction)
    return { kind: 'commit', result: undefined }
  })
}
