// The hot path of a placement: the controllers see new deployments, decide, and write each placement with its events.

import { randomUUID } from 'node:crypto'
import { type DeploymentUid, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { startPlacing } from '@holdfast/server/loops/controllers/place-deployments'
import { startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import {
  deployments,
  nodeNames,
  nodes,
  type StoredDeployment,
  type StoredNode,
  tenants,
} from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import { openStore, type Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { charge, type HotPath } from './hot-path.ts'
import { clearTenant, connectMemory, createMemoryKeyspace } from './memory-world.ts'

const TENANTS = 20
const NODES = 400
const AT_ONCE = 25
const POLL_MS = 5
const TIME = '2026-01-01T00:00:00.000Z'
const DIGEST = `sha256:${'d'.repeat(64)}`

/** Placements of deployments with one replica and with ten, on the same store and nodes. */
export async function placements(): Promise<{ readonly one: HotPath; readonly ten: HotPath }> {
  const keyspace = createMemoryKeyspace()
  const engine = connectMemory(keyspace)
  const store = await openStore({ engine, clock, ids, root: '/hf', onUnreadable: () => {} })
  const onError = (error: unknown): void => console.error(String(error))
  const leadership = startLeadership({ store, clock, replica: 'bench', url: 'http://bench', onError })
  const cell = await makeCell(store)
  await until(() => cell.every((tenant) => leadership.owns(tenant)))
  const placing = {
    ...{ store, clock, leadership, onError },
    quotas: { limit: () => 1_000_000 },
    random: Math.random,
    residency: { enforcement: true, regions: {} },
  }
  let runs = 0
  const withReplicas = (replicas: number): HotPath => ({
    async run(operations) {
      runs += 1
      const count = Math.ceil(operations / replicas)
      const desired = Array.from({ length: count }, (_, index) => ({
        tenant: cell[index % TENANTS] ?? ('' as TenantId),
        stored: deploymentOf(`d${runs}-${index}`, replicas),
      }))
      await writeAll(store, desired, (transaction, { tenant, stored }) =>
        transaction.put(inTenant(tenant, deployments, stored.spec.name), stored),
      )
      await store.fresh()
      const isPlaced = placedIn(store, desired)
      const spent = await charge(count * replicas, async () => {
        const running = startPlacing(placing)
        await until(() => running.pending === 0 && isPlaced())
        await running.stop()
      })
      for (const tenant of cell) clearTenant(keyspace, tenant)
      keyspace.compact(keyspace.revision)
      await store.fresh()
      return spent
    },
  })
  return { one: withReplicas(1), ten: withReplicas(10) }
}

interface Desired {
  readonly tenant: TenantId
  readonly stored: StoredDeployment
}

/** Returns whether every deployment has its replicas. Those at the start that are known to have them are not checked again. */
function placedIn(store: Store, desired: readonly Desired[]): () => boolean {
  let counted = 0
  return () => {
    for (; counted < desired.length; counted += 1) {
      const each = desired[counted]
      if (each === undefined) break
      const found = store.get(placementAt(each.tenant, ownerOf('deployment', each.stored.uid)))?.record
      if (found?.assignments.length !== each.stored.spec.replicas) break
    }
    return counted === desired.length
  }
}

async function makeCell(store: Store): Promise<TenantId[]> {
  const made = Array.from({ length: TENANTS }, () => randomUUID() as TenantId)
  await writeAll(store, made, (transaction, id) =>
    transaction.put(globally(tenants, id), {
      ...{ v: 1, id, name: id, platform: false, quotas: {}, revision: 1, createdAt: TIME, deleting: false },
    }),
  )
  const numbers = Array.from({ length: NODES }, (_, index) => index)
  await writeAll(store, numbers, (transaction, index) =>
    stageNode(transaction, made[index % TENANTS] ?? ('' as TenantId), nodeOf(`node-${index}`)),
  )
  return made
}

function stageNode(transaction: Transaction, tenant: TenantId, node: StoredNode): void {
  transaction.put(inTenant(tenant, nodes, node.id), node)
  const claims = [{ tenant, nodeId: node.id, state: 'active' as const }]
  transaction.put(globally(nodeNames, node.name), { v: 1, claims })
}

const nodeOf = (name: string): StoredNode => ({
  ...{ v: 1, id: `node_${ids.ulid()}` as NodeId, name, generation: 1, publicKey: '', encryptionKey: '' },
  ...{ labels: {}, attested: {}, controlPlane: false, schedulable: true, status: 'ready' },
  capacity: { cpuMillis: 4_000, memoryBytes: 8 * 1024 ** 3 },
  engine: { version: '29.0.0', apiVersion: '1.52' },
  session: { replica: null, epoch: 1, bootId: 'boot' },
  ...{ statusSince: TIME, createdAt: TIME, slot: 0 },
})

function deploymentOf(name: string, replicas: number): StoredDeployment {
  const resources = { cpuMillis: 1, memoryBytes: 1 }
  const uid = `dep_${ids.ulid()}` as DeploymentUid
  return aDeployment(name, { uid, digest: DIGEST, spec: { ...aSpec(name), replicas, resources } })
}

/** Writes many records in transactions of a fixed size. */
async function writeAll<T>(
  store: Store,
  items: readonly T[],
  stage: (transaction: Transaction, item: T) => void,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await store.transact<void>((transaction) => {
      for (const item of items.slice(from, from + AT_ONCE)) stage(transaction, item)
      return { kind: 'commit', result: undefined }
    })
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
}
