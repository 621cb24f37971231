// Sets up a tenant with nodes and deployments directly in the store, and controllers that place them, without API and
// agents.

import { randomUUID } from 'node:crypto'
import {
  type Assignment,
  type DeploymentSpec,
  type DeploymentUid,
  type Event,
  type NodeId,
  ownerOf,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import { type PlacementController, startPlacing } from '@holdfast/server/loops/controllers/place-deployments'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import type { LeadershipTimings } from '@holdfast/server/loops/leadership/leadership-state'
import type { Clock } from '@holdfast/server/ports/clock'
import {
  deployments,
  events,
  nodeNames,
  nodes,
  observations,
  type StoredDeployment,
  type StoredNode,
  type StoredObservation,
  type StoredPlacement,
  tenants,
} from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { TENTH } from './timings.ts'

const DIGEST = `sha256:${'d'.repeat(64)}`
const GIBIBYTE = 1024 ** 3

export const write = (store: Store, stage: (transaction: Transaction) => void): Promise<void> =>
  store.transact((transaction) => {
    stage(transaction)
    return { kind: 'commit', result: undefined }
  })

export async function addTenant(store: Store): Promise<TenantId> {
  const id = randomUUID() as TenantId
  await write(store, (transaction) =>
    transaction.put(globally(tenants, id), {
      v: 1,
      id,
      name: `tenant-${id.slice(0, 8)}`,
      platform: false,
      quotas: {},
      revision: 1,
      createdAt: new Date(clock.now()).toISOString(),
      deleting: false,
    }),
  )
  return id
}

export function aNode(name: string, changes: Partial<StoredNode> = {}): StoredNode {
  return {
    v: 1,
    id: `node_${ids.ulid()}` as NodeId,
    name,
    generation: 1,
    publicKey: '',
    encryptionKey: '',
    labels: {},
    attested: {},
    controlPlane: false,
    schedulable: true,
    status: 'ready' as const,
    capacity: { cpuMillis: 4_000, memoryBytes: 8 * GIBIBYTE },
    engine: { version: '29.0.0', apiVersion: '1.52' },
    statusSince: '2026-01-01T00:00:00.000Z',
    session: { replica: null, epoch: 1, bootId: 'boot' },
    createdAt: '2026-01-01T00:00:00.000Z',
    slot: 0,
    ...changes,
  }
}

export function stageNode(transaction: Transaction, tenant: TenantId, node: StoredNode): void {
  transaction.put(inTenant(tenant, nodes, node.id), node)
  const claims = [{ tenant, nodeId: node.id, state: 'active' as const }]
  transaction.put(globally(nodeNames, node.name), { v: 1, claims })
}

export async function addNodes(
  store: Store,
  tenant: TenantId,
  ...added: StoredNode[]
): Promise<StoredNode[]> {
  await write(store, (transaction) => {
    for (const node of added) stageNode(transaction, tenant, node)
  })
  return added
}

export function deploymentOf(name: string, spec: Partial<DeploymentSpec> = {}): StoredDeployment {
  const uid = `dep_${ids.ulid()}` as DeploymentUid
  return aDeployment(name, { uid, digest: DIGEST, spec: { ...aSpec(name), ...spec } })
}

export async function put(
  store: Store,
  tenant: TenantId,
  stored: StoredDeployment,
): Promise<StoredDeployment> {
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, deployments, stored.spec.name), stored),
  )
  return stored
}

export async function revise(
  store: Store,
  tenant: TenantId,
  stored: StoredDeployment,
  spec: Partial<DeploymentSpec>,
): Promise<StoredDeployment> {
  const { revision } = stored
  return put(store, tenant, { ...stored, revision: revision + 1, spec: { ...stored.spec, ...spec } })
}

export const placementOf = (
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
): StoredPlacement | undefined => store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record

export const runningOf = (store: Store, tenant: TenantId, uid: DeploymentUid): Assignment[] =>
  (placementOf(store, tenant, uid)?.assignments ?? []).filter(({ desired }) => desired === 'running')

/** Writes an agent's report about the state of assignments to the store. */
export async function observe(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
  assignments: readonly Assignment[],
  seen: Partial<StoredObservation>,
): Promise<void> {
  await write(store, (transaction) => {
    for (const { id, nodeId } of assignments)
      transaction.put(inTenant(tenant, observations, id), {
        v: 1,
        assignmentId: id,
        generation: 1,
        seq: 1,
        state: 'ready',
        containerId: 'c',
        startedAt: null,
        exitCode: null,
        restarts: 0,
        reason: '',
        gone: false,
        owner: ownerOf('deployment', uid),
        nodeId,
        at: '',
        ...seen,
      })
  })
}

/** Stored events of a tenant, oldest first. */
export async function eventsOf(store: Store, tenant: TenantId): Promise<Event[]> {
  await store.fresh()
  const keys = [...store.keysOf(events, tenant)].sort(
    (left, right) => left.createRevision - right.createRevision,
  )
  const found = await store.read(
    events,
    keys.map(({ key }) => key),
  )
  return found.flatMap((event) => event ?? [])
}

export interface Controllers {
  readonly leadership: Leadership
  readonly placing: PlacementController
  readonly errors: unknown[]
  stop(): Promise<void>
}

export interface ControllerOptions {
  readonly replica?: string
  readonly containers?: number
  /** Returns the container quota of a tenant, for tests that change the quota. */
  readonly limit?: (tenant: TenantId) => number
  readonly residency?: ResidencyRules
  /** Leadership for the placement controller, in place of the leadership that startControllers starts. */
  readonly leadership?: Pick<Leadership, 'owns' | 'fenced' | 'subscribe'>
  readonly resyncMs?: number
  readonly timings?: LeadershipTimings
  /** Clock of the controllers. Leadership has a clock of its own. */
  readonly clock?: Clock
}

export function startControllers(store: Store, options: ControllerOptions = {}): Controllers {
  const { replica = 'one', containers = 100_000 } = options
  const errors: unknown[] = []
  const leadership = startLeadership({
    store,
    clock,
    replica,
    url: `http://${replica}`,
    timings: options.timings ?? TENTH,
    onError: (error) => errors.push(error),
  })
  const placing = startPlacing({
    store,
    clock: options.clock ?? clock,
    leadership: options.leadership ?? leadership,
    resyncMs: options.resyncMs ?? 3_600_000,
    quotas: { limit: options.limit ?? (() => containers) },
    residency: options.residency ?? { enforcement: true, regions: {} },
    random: Math.random,
    onError: (error) => errors.push(error),
  })
  return {
    leadership,
    placing,
    errors,
    stop: async () => void (await Promise.all([placing.stop(), leadership.stop()])),
  }
}
