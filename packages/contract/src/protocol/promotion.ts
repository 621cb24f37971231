// Promises and promotions in the agent protocol: the configuration of a volume, the requests of its primary to change it,
// and the answers of its copies to the controller. See docs/design/promotion.md

import type { NodeId, VolumeId } from '../ids.ts'
import { boolean, branded, type Infer, integer, list, object, oneOf, optional } from '../shapes/shape.ts'
import { checkpointShape } from './volume-copies.ts'

/** Most volumes in one call. A node with more sends several calls. */
export const CALL_VOLUMES = 100

/** The stored state of a volume on which promises and votes depend. */
export const configurationShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  primary: branded<NodeId>(),
  /** Nodes whose promises the primary needs, and which may be promoted. */
  promotable: list(branded<NodeId>()),
  /** Configuration version: increases with every change of the other members. */
  cv: integer(),
  handOverTo: optional(branded<NodeId>()),
})
export type Configuration = Infer<typeof configurationShape>

/** A request of a primary for the method `configure`. `read` changes nothing; its answer is the committed state. */
export const configureRequestShape = object({
  kind: oneOf(['read', 'shrink', 'grow']),
  volume: branded<VolumeId>(),
  epoch: integer(),
  /** For `grow`: the configuration version that the primary acts on. */
  cv: optional(integer()),
  /** For `shrink` and `grow`: the promotable node. */
  nodeId: optional(branded<NodeId>()),
})
export type ConfigureRequest = Infer<typeof configureRequestShape>

/** A time on the clock of one boot of a machine. The agent counts the boots of its machine. */
export const stampShape = object({ boot: integer(), ms: integer() })

/** The volumes of the methods `promises`, which only asks, and `prepare`, which asks for votes. */
export const askedVolumeShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  cv: integer(),
  /** For `prepare`: an operator forces the promotion. `primaryIsDead`: by the operator's word no other node writes. */
  force: optional(object({ primaryIsDead: boolean() })),
})
export type AskedVolume = Infer<typeof askedVolumeShape>

/** A checkpoint that a copy holds, with the time on the primary's clock of which it has everything written before. */
export const heldCheckpointShape = object({ ...checkpointShape.fields, takenAt: optional(stampShape) })
export type HeldCheckpoint = Infer<typeof heldCheckpointShape>

/** The answer of an agent about one volume. */
export const promiseShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  cv: integer(),
  /**
   * `primary`: this node is the primary. `promised`: it does not vote yet. `expired`: it would vote. `voted`: the vote is
   * durable; only the method `prepare` causes one.
   */
  state: oneOf(['primary', 'promised', 'expired', 'voted']),
  /** The complete and verified checkpoints, the newest first. */
  held: list(heldCheckpointShape),
  /** The last moment at which the primary can have written, on its clock; absent if the copy cannot bound it. */
  lastWriteBy: optional(stampShape),
})
export type PromiseAnswer = Infer<typeof promiseShape>
