// Volumes in the agent protocol: the copies that a node must hold, the nodes with which it exchanges them, and what the
// agent reports about its copies. See docs/design/storage.md#copies-of-a-node

import { COPY_ROLES } from '../api/volume.ts'
import type { NodeId, VolumeId } from '../ids.ts'
import {
  boolean,
  branded,
  type Infer,
  integer,
  list,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

/** A state of a volume at one moment. `number` increases within the epoch of one primary. */
export const checkpointShape = object({ epoch: integer(), number: integer() })
export type VolumeCheckpoint = Infer<typeof checkpointShape>

/** A copy of a volume that a node must hold, or whose data it must delete. */
export const desiredCopyShape = object({
  volume: branded<VolumeId>(),
  /** Counts the primaries of the volume. The agent ignores an epoch below the one that it knows. */
  epoch: integer(),
  role: oneOf(COPY_ROLES),
  sizeBytes: integer(),
  desired: oneOf(['present', 'removed']),
  /**
   * Whether the agent may create the primary without content: true until it has reported the copy once. Afterwards a copy
   * that the pool lacks is a fault, never a new empty volume.
   */
  mayCreate: boolean(),
  /** The checkpoint that becomes the content of a primary that was a replica before; absent for the first primary. */
  from: optional(checkpointShape),
  /** For a primary, the nodes of the replicas; for a replica, the node of the primary. */
  peers: list(branded<NodeId>()),
  /** For a primary: the node that takes over. The agent sends it a last checkpoint and no longer writes. */
  handOverTo: optional(branded<NodeId>()),
  /** The configuration version and the promotable nodes; absent for an agent without the capability `promises`. */
  cv: optional(integer()),
  promotable: optional(list(branded<NodeId>())),
  /** For a promotable replica: the images of the volume's writers, which the agent keeps pulled. */
  images: optional(list(string())),
})
export type DesiredCopy = Infer<typeof desiredCopyShape>

/** A node of the same tenant that holds another copy of one of this node's volumes. */
export const peerShape = object({
  nodeId: branded<NodeId>(),
  /** The `host:port` at which the agent of the node accepts peers. */
  address: string(),
  /** The Ed25519 public keys of the node, the current one first. */
  publicKeys: list(string()),
})
export type Peer = Infer<typeof peerShape>

/** The state of a replica as its primary knows it from the acknowledged checkpoints. */
export const observedReplicaShape = object({
  nodeId: branded<NodeId>(),
  state: oneOf(['seeding', 'current', 'lagging']),
})

/** A copy as its agent observed it. The agent reports a copy when one of these values changes. */
export const observedCopyShape = object({
  volume: branded<VolumeId>(),
  /** The epoch of the desired copy to which the report belongs. */
  epoch: integer(),
  /** `removed`: no byte of the volume is left on the node. `failed`: `reason` says why the copy is not as desired. */
  state: oneOf(['pending', 'present', 'removed', 'failed']),
  /** The size to which the copy is limited; 0 if there is none. */
  sizeBytes: integer(),
  /** One word: no_pool, no_room, content_missing, not_writable, ...; empty if all is as desired. */
  reason: string(),
  /** The newest complete checkpoint of a replica; absent if there is none. */
  checkpoint: optional(checkpointShape),
  /** Only in reports about a primary. */
  replicas: optional(list(observedReplicaShape)),
  /** Only after a handover: the last checkpoint, which the next primary has acknowledged. This node no longer writes. */
  released: optional(object({ to: branded<NodeId>(), checkpoint: checkpointShape })),
  /** Only for a promotable replica whose promise to the primary has expired: it would vote. */
  isPromiseExpired: optional(boolean()),
  /** Only for a primary: since when a fence keeps its writers from running. */
  fencedSince: optional(string()),
})
export type ObservedCopy = Infer<typeof observedCopyShape>

/** The answer of an agent to the calls `measure` and `checkpoint` about one copy. */
export const measurementShape = object({
  volume: branded<VolumeId>(),
  usedBytes: integer(),
  measuredAt: string(),
  /** The highest bytes in use of the last days, and the first of these days (`2026-11-17`). */
  highest: optional(object({ bytes: integer(), since: string() })),
  /**
   * For a primary, in the answer to `checkpoint`: a checkpoint with everything that was written before the call. Absent if
   * none was taken, for example because the replicas still receive an earlier one.
   */
  checkpoint: optional(checkpointShape),
  /** For a primary, what each replica has acknowledged; absent without replicas. */
  replicas: optional(
    list(
      object({
        nodeId: branded<NodeId>(),
        checkpoint: optional(checkpointShape),
        /** Age of the acknowledged state in seconds. */
        age: optional(integer()),
      }),
    ),
  ),
})
export type Measurement = Infer<typeof measurementShape>
