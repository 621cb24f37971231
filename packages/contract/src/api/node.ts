// A tenant's machine: what its owner sees of it, how it is enrolled, and what runs on it. SPEC 2.8, DECISIONS 2, 5 and 8.

import type { NodeId, TenantId } from '../ids.ts'
import {
  boolean,
  branded,
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
import { type Warning, warningShape } from './rejection.ts'

export const NODE_STATUSES = ['pending', 'ready', 'unreachable', 'failed'] as const
export type NodeStatus = (typeof NODE_STATUSES)[number]
export const CLAIM_STATES = ['active', 'releasing'] as const

export const capacityShape = object({ cpuMillis: integer(), memoryBytes: integer() })
export type Capacity = Infer<typeof capacityShape>

export const engineShape = object({ version: string(), apiVersion: string() })

/** The first engine in which every way out of a container that is known now is closed (SAFETY 2, row 24). */
export const ENGINE_FLOOR = '29.5.1'
const ENGINE_VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-?)/

/** What is to be said of a node's engine; a version that cannot be compared is not taken for a good one. */
export function engineWarnings(version: string): Warning[] {
  const compared = compareVersions(version, ENGINE_FLOOR)
  if (compared !== undefined && compared >= 0) return []
  const why =
    compared === undefined
      ? `The engine calls itself ${version || 'nothing'}, which could not be compared with ${ENGINE_FLOOR}, the oldest that is safe.`
      : `The engine is ${version}; below ${ENGINE_FLOOR} it has known ways out of a container. Upgrade it.`
  return [{ code: 'engine_below_floor', field: 'engine.version', why }]
}

/** Below 0: the left one is older. Of two with the same numbers the one with something after a hyphen came first. */
function compareVersions(left: string, right: string): number | undefined {
  const [before, after] = [left, right].map((text) => ENGINE_VERSION.exec(text))
  if (!before || !after) return undefined
  for (const at of [1, 2, 3]) {
    const apart = Number(before[at] ?? 0) - Number(after[at] ?? 0)
    if (apart !== 0) return apart
  }
  return Number(before[4] === '') - Number(after[4] === '')
}

/** What a node may advertise of where it stands, recorded with its join token (SAFETY 2, row 14). */
export const residencyShape = object({ country: optional(string()), region: optional(string()) })

/** `own` is false for the claim of the other tenant while a release is under way; who that is, is not said. */
export const claimShape = object({ own: boolean(), state: oneOf(CLAIM_STATES) })

export const nodeShape = object({
  id: branded<NodeId>(),
  name: string(),
  status: oneOf(NODE_STATUSES),
  schedulable: boolean(),
  /** Its replicas are being moved away. */
  draining: optional(boolean()),
  controlPlane: boolean(),
  labels: map(string()),
  capacity: capacityShape,
  engine: engineShape,
  claims: list(claimShape),
})
export type Node = Infer<typeof nodeShape>

export const newJoinTokenShape = object({
  nodeName: string(),
  residency: optional(residencyShape),
  controlPlane: optional(boolean()),
})

/** The one answer that holds the token itself; a repeated request is told the rest again. */
export const issuedJoinTokenShape = object({
  nodeName: string(),
  token: optional(string()),
  expiresAt: string(),
  /** What to type on the machine; it holds the token. */
  command: optional(string()),
})
export type IssuedJoinToken = Infer<typeof issuedJoinTokenShape>

/** Keys are the base64url of the raw 32 bytes: Ed25519 for who the node is, X25519 for what is sealed to it. */
export const enrollmentShape = object({
  nodeName: string(),
  joinToken: string(),
  publicKey: string(),
  encryptionKey: string(),
  labels: optional(map(string())),
  engine: engineShape,
  capacity: capacityShape,
})
export type Enrollment = Infer<typeof enrollmentShape>

export const enrolledShape = object({
  nodeId: branded<NodeId>(),
  tenant: branded<TenantId>(),
  generation: integer(),
  /** What is no reason to refuse the machine and yet to be known; absent where there is nothing. */
  warnings: optional(list(warningShape)),
})
export type Enrolled = Infer<typeof enrolledShape>

/** Any container of the machine, ours or not; never its environment. */
export const machineContainerShape = object({
  id: string(),
  name: string(),
  image: string(),
  state: string(),
  startedAt: nullable(string()),
  ours: boolean(),
})
export type MachineContainer = Infer<typeof machineContainerShape>
