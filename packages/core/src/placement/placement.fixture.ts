// For tests only: builds a snapshot of a small tenant with one deployment from nodes, assignments and observations.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentSpec,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type RevisionTarget,
} from '@holdfast/contract'
import { neededCapabilities } from '../node/container-template.ts'
import type { Dependency } from '../rollout/dependency-gate.ts'
import type { NodeDisposition } from '../rollout/desired-replicas.ts'
import {
  createSchedulingView,
  desiredResidency,
  type MountedVolume,
  type NodeFacts,
} from '../scheduling/index.ts'
import { aNode, nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import type { PlacementPlan } from './placement-plan.ts'
import { planPlacement } from './plan-placement.ts'
import type {
  DeploymentRecord,
  OwnClaim,
  PlacementRecord,
  PlacementSnapshot,
  SeenReplica,
  VolumeAt,
} from './snapshot.ts'

export const NOW = Date.parse('2026-01-01T00:10:00.000Z')
export const OLD: RevisionTarget = { revision: 1, templateHash: 'old' }
export const NEW: RevisionTarget = { revision: 2, templateHash: 'new' }
export const READY: SeenReplica = { state: 'ready', reason: '', restarts: 0, gone: false }
export const STARTING: SeenReplica = { ...READY, state: 'starting' }

const UID = 'dep_00000000000000000000000001' as DeploymentUid

export function aSpec(changes: Partial<DeploymentSpec> = {}): DeploymentSpec {
  return {
    kind: 'Deployment',
    name: 'web',
    image: 'registry.example/web:1',
    replicas: 2,
    secrets: [],
    secretsVersion: 0,
    resources: { cpuMillis: 100, memoryBytes: 64 },
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '60s' },
    stopGracePeriod: '10s',
    ...changes,
  }
}

/** The assignment of replica `number` on node `node`. The id of the assignment is `rep_<number>`. */
export function assigned(number: number, node: number, changes: Partial<Assignment> = {}): Assignment {
  return {
    id: `rep_${number}` as AssignmentId,
    replica: number,
    nodeId: nodeIdOf(node),
    ...OLD,
    desired: 'running',
    assignedAt: '2026-01-01T00:00:00.000Z',
    ...changes,
  }
}

export function aPlacement(
  assignments: Assignment[],
  changes: Partial<PlacementRecord> = {},
): PlacementRecord {
  return {
    owner: ownerOf('deployment', UID),
    name: 'web',
    revision: 1,
    everAssigned: assignments.length > 0,
    assignments,
    templates: {},
    reportedRefusals: '',
    reportedPhase: 'Running',
    ranRevision: 1,
    lastGood: OLD,
    ...changes,
  }
}

export interface ExampleTenant {
  readonly spec?: Partial<DeploymentSpec>
  readonly deployment?: Partial<DeploymentRecord>
  readonly target?: RevisionTarget
  /** Node 1, node 2 and so on. Each node is ready and empty, except for the properties that are set here. */
  readonly nodes: readonly Partial<NodeFacts>[]
  readonly dispositions?: { readonly [node: number]: NodeDisposition }
  readonly placement?: PlacementRecord
  /** Maps assignment ids to observations. The replica of a stored assignment that is not listed here is ready. */
  readonly seen?: { readonly [id: string]: SeenReplica }
  readonly limit?: number
  readonly enforcement?: boolean
  readonly dependencies?: { readonly [name: string]: Dependency }
  /** Volumes by id. Without an entry a mounted volume does not exist. */
  readonly volumes?: { readonly [id: string]: VolumeAt }
  /** The claims of the deployment; without them, one for each volume that the spec mounts read-write. */
  readonly claims?: readonly OwnClaim[]
}

export interface Example {
  readonly snapshot: PlacementSnapshot
  readonly deployment: DeploymentRecord
}

export function anExample(tenant: ExampleTenant): Example {
  const spec = aSpec(tenant.spec)
  const { name, resources } = spec
  const placement = tenant.placement
  const assignments = placement?.assignments ?? []
  const nodes = tenant.nodes.map((parts, index) => withAssigned(aNode(index + 1, parts), spec, assignments))
  const limit = tenant.limit ?? 100
  const dispositions = new Map<NodeId, NodeDisposition>(
    Object.entries(tenant.dispositions ?? {}).map(([node, disposition]) => [
      nodeIdOf(Number(node)),
      disposition,
    ]),
  )
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const rules = { enforcement: tenant.enforcement ?? true, regions: { eu: ['DE', 'FR'] } }
  return {
    deployment: {
      uid: UID,
      spec,
      revision: 1,
      digest: `sha256:${'d'.repeat(64)}`,
      deleting: false,
      ...tenant.deployment,
    },
    snapshot: {
      workload: {
        name,
        resources,
        placement: spec.placement,
        nodeId: spec.nodeId,
        residency: desiredResidency(spec.placement?.residency, rules),
        ofPlatform: false,
        needs: neededCapabilities(spec),
        volumes: mountedVolumes(spec, tenant.volumes ?? {}),
      },
      target: tenant.target ?? OLD,
      placement,
      placementRevision: placement === undefined ? 0 : 7,
      scheduling: createSchedulingView({ nodes, containers: { used: assignments.length, limit } }),
      requests: { name, resources },
      counted: { name, resources, assignments },
      room: limit,
      graceUntil: 0,
      nodeOf: (id) => byId.get(id),
      dispositionOf: (id) => dispositions.get(id) ?? (byId.has(id) ? 'staying' : 'absent'),
      seen: (id) => tenant.seen?.[id] ?? (assignments.some((each) => each.id === id) ? READY : undefined),
      dependency: (other) => tenant.dependencies?.[other],
      claims: tenant.claims ?? claimsOf(spec),
      volumeOf: (id) => tenant.volumes?.[id],
      sha256: fakeDigest,
    },
  }
}

function mountedVolumes(
  { volumes: mounts = [] }: DeploymentSpec,
  known: NonNullable<ExampleTenant['volumes']>,
): MountedVolume[] | undefined {
  const ids = new Set(mounts.filter(({ type }) => type !== 'tmpfs').map(({ volume }) => volume))
  if (ids.size === 0) return undefined
  return [...ids].map((id) => ({
    id,
    primary: known[id]?.primary?.nodeId ?? null,
    copies: Object.fromEntries((known[id]?.replicas ?? []).map(({ nodeId, state }) => [nodeId, state])),
    isMoving: false,
  }))
}

const claimsOf = ({ volumes = [] }: DeploymentSpec): OwnClaim[] =>
  volumes.filter(({ readOnly }) => !readOnly).map(({ volume }) => ({ volume, state: 'bound' }))

function withAssigned(node: NodeFacts, spec: DeploymentSpec, assignments: readonly Assignment[]): NodeFacts {
  const own = assignments.filter(({ nodeId }) => nodeId === node.id).length
  if (own === 0) return node
  const { cpuMillis, memoryBytes } = spec.resources
  return {
    ...node,
    requested: {
      cpuMillis: node.requested.cpuMillis + own * cpuMillis,
      memoryBytes: node.requested.memoryBytes + own * memoryBytes,
    },
    replicas: new Map([...node.replicas, [spec.name, own]]),
  }
}

/** A fake digest of 64 hexadecimal digits. Different texts have different digests. */
function fakeDigest(text: string): string {
  let state = 17
  for (const character of text) state = (state * 31 + (character.codePointAt(0) ?? 0)) % 2_147_483_647
  let digest = ''
  while (digest.length < 64) {
    state = (state * 48_271 + 11) % 2_147_483_647
    digest += state.toString(16).padStart(8, '0')
  }
  return digest.slice(0, 64)
}

export function planOf(tenant: ExampleTenant, now = NOW): PlacementPlan {
  const { snapshot, deployment } = anExample(tenant)
  return planPlacement(snapshot, deployment, now)
}

/** Describes each assignment, for example as "2 on node-1 running". */
export const shown = (assignments: readonly Assignment[]): string[] =>
  assignments.map(
    ({ replica, nodeId, desired }) => `${replica} on node-${Number(nodeId.slice('node_'.length))} ${desired}`,
  )
