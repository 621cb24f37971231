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
  nodeDisksShape,
  nodeFaultShape,
  nodeHoldShape,
  nullable,
  object,
  oneOf,
  optional,
  residencyShape,
  storageShape,
  string,
  type TenantId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

/** A tenant's machine. `generation` counts its enrollments; a session must prove the key of the newest enrollment. */
export const storedNodeShape = object({
  v,
  id: branded<NodeId>(),
  name: string(),
  generation: integer(),
  publicKey: string(),
  encryptionKey: string(),
  /** The labels that the node advertised last, without the labels that the server refused. */
  labels: map(string()),
  attested: residencyShape,
  /**
   * A hash of the labels that the server refused last, so that the same refusal emits no second event; absent if none.
   */
  refusedMark: optional(string()),
  /** The peer addresses that the last session stated and the server refused; absent if there are none. */
  refusedAddresses: optional(string()),
  controlPlane: boolean(),
  schedulable: boolean(),
  /**
   * True during a drain: the node gets no new replicas, and each of its replicas stops once a replacement runs elsewhere.
   */
  draining: optional(boolean()),
  /**
   * The address at which the node's router accepts requests from the tenant's other nodes; absent without a router.
   */
  peerAddress: optional(string()),
  /**
   * How the node's router proves its identity to the tenant's other routers. Valid only for this generation and for the
   * session with this epoch: an older server keeps the member and does not update it.
   */
  secureRouter: optional(
    object({
      generation: integer(),
      epoch: integer(),
      /** The address for mutual TLS; absent if the agent of the session stated none. */
      address: optional(string()),
      /** The certificate stated last, and the one before it, as base64 of DER. */
      certificates: list(string()),
      /** Until then the other routers accept plain HTTP, so that an update of this node can be reverted. */
      plainUntil: optional(string()),
    }),
  ),
  /** The address at which the agent exchanges copies of volumes with the tenant's other nodes; absent if it does not. */
  agentPeerAddress: optional(string()),
  capacity: capacityShape,
  engine: engineShape,
  /** Stated by the agent in its last session; absent before the first one. Without `capabilities`: those of 0.1.0. */
  agent: optional(object({ version: string(), capabilities: optional(list(string())) })),
  /** The storage pool that the agent stated last; absent if the node has none. */
  storage: optional(storageShape),
  /** The pool that the node has since its enrollment. Another one in its place must not be used. */
  poolId: optional(string()),
  /** How full the disks of the node are, as its agent reported last; absent before the first report. */
  disks: optional(nodeDisksShape),
  /** Why the pool makes a ready node degraded; absent if it does not. */
  degraded: optional(object({ reason: string(), since: string() })),
  /**
   * The other faults that make a ready node degraded, as its agent reports them. Valid only for the session with this
   * epoch: an older server keeps the member and does not update it.
   */
  health: optional(object({ epoch: integer(), faults: list(nodeFaultShape) })),
  /** Why the node removes nothing, as its agent stated last; absent if it may remove. An older server keeps the member. */
  hold: optional(nodeHoldShape),
  /**
   * Fingerprints of the roots that the agent trusts for its connection to the server. Valid only for this generation and for the
   * session with this epoch: an older server keeps the member and does not update it.
   */
  authorities: optional(object({ generation: integer(), epoch: integer(), pins: list(string()) })),
  status: oneOf(NODE_STATUSES),
  statusSince: string(),
  /** The node's session: the server replica that holds it, and its epoch, which each new session increases. */
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
