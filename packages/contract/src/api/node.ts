// Nodes: the record, enrollment and the list of containers on a machine.

import type { NodeId, TenantId } from '../ids.ts'
import {
  boolean,
  branded,
  field,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import {
  capacityTexts,
  engineTexts,
  enrollmentTexts,
  joinTokenTexts,
  nodeResidencyTexts,
  nodeTexts,
} from '../texts/request-texts.ts'
import { nodeDisksShape } from './disks.ts'
import { type Warning, warningShape } from './rejection.ts'

export const NODE_STATUSES = ['pending', 'ready', 'unreachable', 'failed'] as const
export type NodeStatus = (typeof NODE_STATUSES)[number]
/** The statuses of a node as the API shows them: a ready node with a fault is degraded. */
export const SHOWN_NODE_STATUSES = [...NODE_STATUSES, 'degraded'] as const
/** Why a node is degraded, the most severe first. */
export const NODE_FAULTS = ['engine_silent', 'disk_pressure', 'pool_changed'] as const
export type NodeFaultReason = (typeof NODE_FAULTS)[number]
export const CLAIM_STATES = ['active', 'releasing'] as const

export const capacityShape = object({
  cpuMillis: field(capacityTexts.cpuMillis, integer()),
  memoryBytes: field(capacityTexts.memoryBytes, integer()),
})
export type Capacity = Infer<typeof capacityShape>

/** The storage pool of a node: its size, and the bytes that its file system uses. Both are 0 if the pool has a fault. */
export const storageShape = object({
  poolBytes: integer(),
  usedBytes: integer(),
  /** The id of the pool's file system; absent if it is unknown. */
  poolId: optional(string()),
  /**
   * Why the pool cannot be used: pool_missing, pool_changed, pool_foreign (it may have data of another tenant, which is
   * deleted first) or pool_unreadable; newer agents may know others.
   */
  fault: optional(string()),
})

export const engineShape = object({
  version: field(engineTexts.version, string()),
  apiVersion: field(engineTexts.apiVersion, string()),
})

/** The first Docker Engine version without known container escapes. */
export const ENGINE_FLOOR = '29.5.1'
const ENGINE_VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-?)/

/** Warnings about the Docker Engine version of a node. A version that cannot be parsed causes a warning too. */
export function engineWarnings(version: string): Warning[] {
  const compared = compareVersions(version, ENGINE_FLOOR)
  if (compared !== undefined && compared >= 0) return []
  const why =
    compared === undefined
      ? `The engine reports version ${version || '(none)'}, which cannot be compared with ${ENGINE_FLOOR}, the oldest safe version.`
      : `The engine version is ${version}; versions below ${ENGINE_FLOOR} have known container escapes. Upgrade the engine.`
  return [{ code: 'engine_below_floor', field: 'engine.version', why }]
}

/** Returns a negative number if the left version is older. A pre-release (with a hyphen) is older than the release. */
function compareVersions(left: string, right: string): number | undefined {
  const [before, after] = [left, right].map((text) => ENGINE_VERSION.exec(text))
  if (!before || !after) return undefined
  for (const at of [1, 2, 3]) {
    const apart = Number(before[at] ?? 0) - Number(after[at] ?? 0)
    if (apart !== 0) return apart
  }
  return Number(before[4] === '') - Number(after[4] === '')
}

/** The location labels that a node may report. The join token of the node records the same labels. */
export const residencyShape = object({
  country: field(nodeResidencyTexts.country, optional(string())),
  region: field(nodeResidencyTexts.region, optional(string())),
})

/** A tenant's claim on a node. `own` is false if another tenant, which is not named, still has to release the node. */
export const claimShape = object({ own: boolean(), state: oneOf(CLAIM_STATES) })

/** A part of a node that does not work. */
export const nodeFaultShape = object({
  /** One of NODE_FAULTS; newer servers may know other words. */
  reason: string(),
  since: string(),
  /** True once the fault has lasted so long that the replicas of the node are replaced on other nodes. */
  failed: optional(boolean()),
})
export type NodeFault = Infer<typeof nodeFaultShape>

/** A node that removes nothing, because the store of its servers was restored from a backup. */
export const nodeHoldShape = object({
  /** By what the agent has recognised the restore. */
  reason: string(),
  since: string(),
})

export const nodeShape = object({
  id: branded<NodeId>(),
  name: string(),
  status: oneOf(SHOWN_NODE_STATUSES),
  /** Why the node is degraded: the reason of its most severe fault. Absent if it is not. */
  reason: optional(string()),
  /** Everything for which the node is degraded, the most severe fault first; absent if it is not. */
  faults: optional(list(nodeFaultShape)),
  /**
   * Why and since when the node removes no container and no data, after etcd was restored from a backup. It ends when an
   * operator has confirmed the restore. Absent if the node may remove.
   */
  hold: optional(nodeHoldShape),
  schedulable: boolean(),
  /** Whether the node is draining. */
  draining: optional(boolean()),
  /** The jobs and volumes that keep the node from being drained or released, as sentences with a remedy; absent if none does. */
  drainBlockedBy: optional(list(string())),
  controlPlane: boolean(),
  labels: map(string()),
  capacity: capacityShape,
  engine: engineShape,
  /** The storage pool for volumes; absent if the node has none. */
  storage: optional(storageShape),
  /** How full the disks of the node are, to about one percent; absent until the agent has reported them. */
  disks: optional(nodeDisksShape),
  /** The version of the node's agent; absent until the agent has opened its first session. */
  agentVersion: optional(string()),
  /** True if the agent's version is older than that of the server that answers; absent otherwise. */
  agentOutdated: optional(boolean()),
  claims: list(claimShape),
  /** The resources that the replicas on the node request; absent in answers to changes. */
  requested: optional(capacityShape),
  /** When the agent was last heard; null if no server knows. Absent in answers to changes. */
  lastHeardAt: optional(nullable(string())),
  /** Since when the node has its status. */
  since: optional(string()),
  /** The revision of the record, which `If-Match` compares. Absent in answers to changes. */
  revision: optional(integer()),
})
export type Node = Infer<typeof nodeShape>

export const newJoinTokenShape = object({
  nodeName: field(joinTokenTexts.nodeName, string()),
  residency: field(joinTokenTexts.residency, optional(residencyShape)),
  controlPlane: field(joinTokenTexts.controlPlane, optional(boolean())),
})

/** The body of PATCH /nodes/{id}. */
export const nodePatchShape = object({ controlPlane: field(nodeTexts.controlPlane, boolean()) })

/** The only response that contains the join token. Repeating the request returns the other fields without the token. */
export const issuedJoinTokenShape = object({
  nodeName: string(),
  token: optional(string()),
  expiresAt: string(),
  /** The enrollment command to run on the machine; it contains the join token. */
  command: optional(string()),
})
export type IssuedJoinToken = Infer<typeof issuedJoinTokenShape>

/** Request to enroll a node. Both keys are 32 raw bytes in base64url: `publicKey` is Ed25519, `encryptionKey` X25519. */
export const enrollmentShape = object({
  nodeName: field(enrollmentTexts.nodeName, string()),
  joinToken: field(enrollmentTexts.joinToken, string()),
  publicKey: field(enrollmentTexts.publicKey, string()),
  encryptionKey: field(enrollmentTexts.encryptionKey, string()),
  labels: field(enrollmentTexts.labels, optional(map(string()))),
  engine: field(enrollmentTexts.engine, engineShape),
  capacity: field(enrollmentTexts.capacity, capacityShape),
})
export type Enrollment = Infer<typeof enrollmentShape>

export const enrolledShape = object({
  nodeId: branded<NodeId>(),
  tenant: branded<TenantId>(),
  generation: integer(),
  /** Problems that were found at enrollment but do not prevent it; absent if there are none. */
  warnings: optional(list(warningShape)),
})
export type Enrolled = Infer<typeof enrolledShape>

/** Any container on the machine, managed or not. The container's environment variables are never included. */
export const machineContainerShape = object({
  id: string(),
  name: string(),
  image: string(),
  state: string(),
  startedAt: nullable(string()),
  ours: boolean(),
})
export type MachineContainer = Infer<typeof machineContainerShape>
