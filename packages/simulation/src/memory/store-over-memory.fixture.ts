// For tests only: the real store over the in-memory engine, with a tenant and the records that placement needs.

import {
  type AssignmentId,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { nodeNames, nodes, type StoredPlacement, tenants } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { connectMemory } from './connect-memory.ts'
import type { MemoryKeyspace } from './keyspace.ts'
import type { LineOptions } from './line.ts'

const NOW = '2026-01-01T00:00:00.000Z'
export const clock = { now: () => Date.parse(NOW) }
export const nodeId = 'node_1' as NodeId
export const uidOf = (name: string) => `dep_${name}` as DeploymentUid
export const assignmentIdOf = (name: string) => `rep_${name}` as AssignmentId

/** Opens a store over the in-memory engine. The caller must close the store. */
export const openOver = (keyspace: MemoryKeyspace, line?: LineOptions): Promise<Store> =>
  openStore({ engine: connectMemory(keyspace, line), clock, ids, onUnreadable: () => {} })

export const write = (store: Store, stage: (transaction: Transaction) => void): Promise<void> =>
  store.transact<void>((transaction) => {
    stage(transaction)
    return { kind: 'commit', result: undefined }
  })

/** Writes a tenant with one machine, whose session is on a server called `srv`. */
export function putTenant(transaction: Transaction, tenant: TenantId, deleting = false): void {
  transaction.put(globally(tenants, tenant), {
    v: 1,
    id: tenant,
    name: 't',
    platform: false,
    deleting,
    createdAt: NOW,
    quotas: {},
    revision: 1,
  })
  transaction.put(inTenant(tenant, nodes, nodeId), {
    v: 1,
    id: nodeId,
    name: 'n1',
    generation: 1,
    publicKey: '',
    encryptionKey: '',
    labels: {},
    attested: {},
    controlPlane: false,
    schedulable: true,
    status: 'ready',
    statusSince: NOW,
    createdAt: NOW,
    slot: 0,
    capacity: { cpuMillis: 1_000, memoryBytes: 1_000 },
    engine: { version: '', apiVersion: '' },
    session: { replica: 'srv', epoch: 1, bootId: '' },
  })
  transaction.put(globally(nodeNames, 'n1'), { v: 1, claims: [{ tenant, nodeId, state: 'active' }] })
}

/** Writes a placement with one replica of the deployment, on the tenant's machine. */
export function putPlacement(
  transaction: Transaction,
  tenant: TenantId,
  name: string,
  changes: Partial<StoredPlacement> = {},
): void {
  const made = { revision: 1, templateHash: '', desired: 'running' as const, assignedAt: NOW }
  const placement: StoredPlacement = {
    v: 1,
    owner: ownerOf('deployment', uidOf(name)),
    name,
    revision: 1,
    everAssigned: true,
    templates: {},
    reportedRefusals: '',
    reportedPhase: 'Progressing',
    assignments: [{ id: assignmentIdOf(name), replica: 1, nodeId, ...made }],
    ...changes,
  }
  transaction.put(placementAt(tenant, placement.owner), placement)
}
