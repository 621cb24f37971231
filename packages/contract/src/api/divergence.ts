// Divergences of a volume: data that a former primary wrote and that the promoted copy lacks, kept apart on its node.
// See docs/design/endings.md#quarantine

import type { NodeId } from '../ids.ts'
import {
  branded,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

/** Why a node cannot be asked about divergences, or cannot send one, at the time of the request. */
export const DIVERGENCE_OBSTACLES = [
  'node_unreachable',
  'node_removed',
  'pool_unreadable',
  'not_set_aside',
  'agent_outdated',
] as const
export type DivergenceObstacle = (typeof DIVERGENCE_OBSTACLES)[number]

const obstacle = { reason: oneOf(DIVERGENCE_OBSTACLES), message: string() }

export const divergenceShape = object({
  /** The epoch in which the data was written. */
  epoch: integer(),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  /** The size of the kept data; null while the node counts it. */
  bytes: nullable(integer()),
  keptSince: string(),
  /** The node deletes the data no earlier than this. */
  keptUntil: string(),
  /** Why the data cannot be downloaded or deleted now; null if it can. */
  unavailable: nullable(object(obstacle)),
  /** Another one after the node has kept further data of the epoch. `If-Match` of a deletion compares it. */
  revision: optional(integer()),
})
export type Divergence = Infer<typeof divergenceShape>

/** A node that may keep divergent data, which could not be observed. */
export const unobservedShape = object({ nodeId: branded<NodeId>(), nodeName: string(), ...obstacle })
export type Unobserved = Infer<typeof unobservedShape>

/** The list is complete only if `unobserved` is empty. */
export const divergencesShape = object({
  items: list(divergenceShape),
  unobserved: list(unobservedShape),
  nextCursor: nullable(string()),
})
export type Divergences = Infer<typeof divergencesShape>

/** The response to the deletion of a divergence. */
export const deletedDivergenceShape = object({
  epoch: integer(),
  /** The node that confirmed the deletion; absent if the data was gone before. */
  nodeId: optional(branded<NodeId>()),
  nodeName: optional(string()),
})
export type DeletedDivergence = Infer<typeof deletedDivergenceShape>
