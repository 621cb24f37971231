// Nodes, the claims on node names, and the join tokens with which machines enroll.

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

/** A tenant's machine. `generation` counts enrollments under this id; a session must prove the key of the newest one. */
export const storedNodeShape = object({
  v,
  id: branded<NodeId>(),
  name: string(),
  generation: integer(),
  publicKey: string(),
  encryptionKey: string(),
  /** The labels that the node advertised last, without labels that are not attested. */
  labels: map(string()),
  attested: residencyShape,
  /**
   * A hash of the labels that were refused last, so that a repeated refusal emits no event; absent if none were refused.
   */
  refusedMark: optional(string()),
  controlPlane: boolean(),
  schedulable: boolean(),
  /**
   * True during a drain: replicas move to other nodes, each after its replacement runs, and the node gets no new ones.
   */
  draining: optional(boolean()),
  /**
   * The address at which the node's router accepts requests from the tenant's other nodes; absent if it routes nothing.
   */
  peerAddress: optional(string()),
  capacity: capacityShape,
  engine: engineShape,
  status: oneOf(NODE_STATUSES),
  statusSince: string(),
  /** The server replica to which the node is connected; each new session raises the epoch. */
  session: object({ replica: nullable(string()), epoch: integer(), bootId: string() }),
  createdAt: string(),
  /** The number of the quota slot that the node occupies. */
  slot: integer(),
})
export type StoredNode = Infer<typeof storedNodeShape>

/** The tenants that claim a node's name. All tenants share one key per name, so that two cannot both own a name. */
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
