// Nodes, the names they claim, and the tokens they join with.

import {
  boolean,
  branded,
  CLAIM_STATES,
  capacityShape,
  engineShape,
  type Infer,
  integer,
  list,
  map,
  NODE_STATUSES,
  type NodeId,
  nullable,
  object,
  oneOf,
  optional,
  residencyShape,
  string,
  type TenantId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

/** A tenant's machine. `generation` counts enrollments under this id; a session must prove the newest one's key. */
export const storedNodeShape = object({
  v,
  id: branded<NodeId>(),
  name: string(),
  generation: integer(),
  publicKey: string(),
  encryptionKey: string(),
  /** The labels last advertised, without those that are not attested. */
  labels: map(string()),
  attested: residencyShape,
  /** A hash of the labels that were refused last, so that a repeated refusal emits no event; absent where none was. */
  refusedMark: optional(string()),
  controlPlane: boolean(),
  schedulable: boolean(),
  /** Replicas are being moved away, each after its successor runs; the node gets no new work. */
  draining: optional(boolean()),
  /** The address at which its router accepts requests forwarded by the tenant's nodes; absent if it routes nothing. */
  peerAddress: optional(string()),
  capacity: capacityShape,
  engine: engineShape,
  status: oneOf(NODE_STATUSES),
  statusSince: string(),
  /** The server replica with the node's connection; each new session raises the epoch. */
  session: object({ replica: nullable(string()), epoch: integer(), bootId: string() }),
  createdAt: string(),
  /** The quota slot that this record occupies. */
  slot: integer(),
})
export type StoredNode = Infer<typeof storedNodeShape>

/** The tenants that claim a node's name. One key for all tenants, so that two cannot both own it. */
export const nodeNameShape = object({
  v,
  claims: list(
    object({ tenant: branded<TenantId>(), nodeId: branded<NodeId>(), state: oneOf(CLAIM_STATES) }),
  ),
})

export const joinTokenShape = object({
  v,
  tenant: branded<TenantId>(),
  nodeName: string(),
  residency: residencyShape,
  controlPlane: boolean(),
  secretHash: string(),
  expiresAt: string(),
})

export const nodes = tenantCollection('node', storedNodeShape, true)
export const nodeNames = globalCollection('nodename', nodeNameShape)
export const joinTokens = globalCollection('join', joinTokenShape)
