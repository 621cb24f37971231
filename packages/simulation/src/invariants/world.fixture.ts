// For tests of the invariants: a small healthy cluster, and functions that change one thing in it.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentUid,
  type Event,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { shardOf } from '@holdfast/server/loops/leadership/shard-of'
import type {
  StoredDeployment,
  StoredNode,
  StoredObservation,
  StoredPlacement,
} from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import type { Records } from '../cluster/mirror.ts'
import type { Kept, SimulatedMachine, Snapshot } from '../cluster/snapshot.ts'
import { createWriteLog } from '../volumes/written.ts'

export const OWN = '11111111-1111-4111-8111-111111111111' as TenantId
export const OTHER = '22222222-2222-4222-8222-222222222222' as TenantId
export const UID = 'dep_1' as DeploymentUid
export const OWNER = ownerOf('deployment', UID)
export const N1 = 'node_1' as NodeId
export const N2 = 'node_2' as NodeId
export const FOREIGN = 'node_3' as NodeId
export const R1 = 'rep_1' as AssignmentId
export const R2 = 'rep_2' as AssignmentId
export const R3 = 'rep_3' as AssignmentId
/** Start time of the simulated cluster in these tests. */
const TIME = '1970-01-01T00:00:00.000Z'

export const aStoredNode = (id: NodeId, changes: Partial<StoredNode> = {}): StoredNode => ({
  v: 1,
  id,
  name: id.replace('node_', 'n'),
  generation: 1,
  publicKey: '',
  encryptionKey: '',
  labels: { 'holdfast.io/country': 'DE', zone: 'a' },
  attested: { country: 'DE' },
  controlPlane: false,
  schedulable: true,
  capacity: { cpuMillis: 1000, memoryBytes: 1000 },
  engine: { version: '29.5.1', apiVersion: '1.52' },
  status: 'ready',
  statusSince: TIME,
  session: { replica: 'srv_a', epoch: 1, bootId: 'boot' },
  createdAt: TIME,
  slot: Number(id.slice(-1)),
  ...changes,
})

export const anAssignment = (
  id: AssignmentId,
  nodeId: NodeId,
  changes: Partial<Assignment> = {},
): Assignment => ({
  id,
  nodeId,
  replica: 1,
  revision: 1,
  templateHash: 'hash',
  desired: 'running',
  assignedAt: TIME,
  ...changes,
})

export const aPlacement = (
  assignments: Assignment[],
  changes: Partial<StoredPlacement> = {},
): StoredPlacement => ({
  v: 1,
  owner: OWNER,
  name: 'web',
  revision: 1,
  everAssigned: true,
  assignments,
  templates: {},
  reportedRefusals: '',
  reportedPhase: 'Running',
  ...changes,
})

export const anObservation = (
  assignmentId: AssignmentId,
  nodeId: NodeId,
  changes: Partial<StoredObservation> = {},
): StoredObservation => ({
  ...{
    v: 1,
    assignmentId,
    generation: 1,
    seq: 1,
    state: 'ready',
    containerId: 'c',
    startedAt: TIME,
    exitCode: null,
  },
  restarts: 0,
  reason: '',
  gone: false,
  owner: OWNER,
  nodeId,
  at: TIME,
  ...changes,
})

export const anEvent = (changes: Partial<Event> = {}): Event => ({
  id: 'evt_1',
  type: 'deployment.unschedulable',
  tenant: OWN,
  time: TIME,
  severity: 'warning',
  subject: { kind: 'Deployment', name: 'web', uid: UID },
  reason: '',
  message: 'No node.',
  data: {},
  ...changes,
})

export const web = (changes: Partial<StoredDeployment> = {}, spec: object = {}): StoredDeployment =>
  aDeployment('web', { uid: UID, spec: { ...aSpec('web'), ...spec }, ...changes })

const kept = <T>(tenant: TenantId | undefined, id: string, record: T): Kept<T> => ({
  tenant,
  id,
  record,
  modRevision: 1,
})

const aTenant = (id: TenantId, name: string) =>
  kept(undefined, id, {
    ...{
      v: 1,
      id,
      name,
      platform: false,
      quotas: { containers: 2 },
      revision: 1,
      createdAt: TIME,
      deleting: false,
    },
  })

const aMachine = (nodeId: NodeId, tenant: TenantId): SimulatedMachine => ({
  nodeId,
  tenant,
  name: nodeId.replace('node_', 'n'),
  powered: true,
  connected: true,
  ...{ frozen: false, thawedAt: Number.NEGATIVE_INFINITY, isCut: false, isHeard: true, address: nodeId },
  labels: {},
  generation: 1,
  containers: [],
  notCreated: new Set(),
  jobLogs: new Set(),
  copies: [],
  ...{ networks: [], foreignNetworks: new Set(), lostNetworks: new Set() },
  poolBytes: undefined,
})

const aClaim = (tenant: TenantId, nodeId: NodeId) =>
  kept(undefined, nodeId.replace('node_', 'n'), {
    v: 1,
    claims: [{ tenant, nodeId, state: 'active' as const }],
  })

/** A cluster with one serving replica on the first of two machines, and a third machine of another tenant. */
export function aWorld(): Snapshot {
  const owners = [[N1, OWN] as const, [N2, OWN] as const, [FOREIGN, OTHER] as const]
  const serving = {
    id: R1,
    assignmentId: R1,
    owner: OWNER,
    templateHash: 'hash',
    state: 'ready' as const,
    startedAt: 0,
    writes: [],
  }
  return {
    now: 0,
    revision: 1,
    tenants: [aTenant(OWN, 'own'), aTenant(OTHER, 'other')],
    deployments: [kept(OWN, 'web', web())],
    placements: [kept(OWN, OWNER, aPlacement([anAssignment(R1, N1)]))],
    observations: [kept(OWN, R1, anObservation(R1, N1))],
    nodes: owners.map(([id, tenant]) => kept(tenant, id, aStoredNode(id))),
    nodeNames: owners.map(([id, tenant]) => aClaim(tenant, id)),
    slots: [
      kept(OWN, 'deployments/0', { v: 1, holder: UID }),
      ...owners.map(([id, tenant]) => kept(tenant, `nodes/${id.slice(-1)}`, { v: 1, holder: id })),
    ],
    shards: [kept(undefined, String(shardOf(OWN)), { v: 1, owner: 'srv_a' })],
    volumes: [],
    volumeWriters: [],
    jobs: [],
    networks: [],
    events: [],
    machines: owners.map(([id, tenant]) => ({
      ...aMachine(id, tenant),
      containers: id === N1 ? [serving] : [],
    })),
    servers: ['a', 'b'].map((name) => ({
      name,
      replica: `srv_${name}`,
      alive: true,
      holds: name === 'a' ? [OWN] : [],
    })),
    acknowledged: [],
    ...{ loads: new Map(), loadsChangedAt: new Map() },
    writes: createWriteLog(),
  }
}

type Folder = Exclude<keyof Records, 'tenants'>

/** The cluster after one record was written, or deleted if no record is given. */
export function written<F extends Folder>(
  world: Snapshot,
  folder: F,
  tenant: TenantId | undefined,
  id: string,
  record?: Snapshot[F][number]['record'],
): Snapshot {
  const others = world[folder].filter((each) => each.tenant !== tenant || each.id !== id)
  const revision = world.revision + 1
  const one = record === undefined ? [] : [{ tenant, id, record, modRevision: revision }]
  return { ...world, revision, [folder]: [...others, ...one] }
}

export const later = (world: Snapshot, ms: number): Snapshot => ({ ...world, now: world.now + ms })

export const withMachine = (
  world: Snapshot,
  nodeId: NodeId,
  change: (machine: SimulatedMachine) => Partial<SimulatedMachine>,
): Snapshot => ({
  ...world,
  machines: world.machines.map((each) => (each.nodeId === nodeId ? { ...each, ...change(each) } : each)),
})
