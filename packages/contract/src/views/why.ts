// Why a replica has no node: the nodes that refuse it, the smallest changes that help, and the containers that fail.

import { lastExitShape } from '../api/container-end.ts'
import { constraintShape } from '../api/deployment.ts'
import { RESIDENCY_DEMANDS } from '../api/residency.ts'
import { scalingStatusShape } from '../api/scaling.ts'
import { primaryDeathShape } from '../api/volume.ts'
import type { NodeId } from '../ids.ts'
import type { Json } from '../json/json.ts'
import {
  branded,
  type Infer,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

/** The filters that can refuse a node, in the order in which the API lists refusals. */
export const FILTERS = [
  'readiness',
  'engine',
  'disk_pressure',
  'cordon',
  'control_plane_node',
  'claims',
  'agent_version',
  'creation',
  'named_node',
  'residency_enforcement',
  'residency_country',
  'residency_region',
  'blocked_country',
  'label_constraint',
  'affinity',
  'anti_affinity',
  'resources',
  'volume_primary',
  'network_node',
  'storage',
  'quota',
] as const
export type FilterName = (typeof FILTERS)[number]

export const refusalShape = object({
  filter: oneOf(FILTERS),
  code: string(),
  required: json<Json>(),
  reported: json<Json>(),
  /** The smallest change after which the filter would no longer refuse the node. */
  fix: string(),
})
export type Refusal = Infer<typeof refusalShape>

/** Kinds of changes that help to place a replica. A kind that names no other object changes the candidate node. */
export const CHANGE_KINDS = [
  'make_ready',
  'uncordon',
  /** Upgrade the agent of the node to a version with all needed capabilities. */
  'upgrade_agent',
  /** Set a label in the agent's configuration, or remove the label if no `value` is given. */
  'set_label',
  /** Enroll the node again with a join token that attests the label. */
  'attest_label',
  /** Reduce the resource requests of the replicas that already run on the node. */
  'free',
  /** Place one more replica of another deployment on the node. */
  'place_beside',
  /** Move all replicas of another deployment away from the node. */
  'move_away',
  /** Name the candidate node in `nodeId` of the deployment. */
  'name_node',
  /** Remove the placement constraint from the deployment. */
  'change_constraint',
  /** Remove the name of another deployment from the deployment's affinity list. */
  'change_affinity',
  'change_anti_affinity',
  /** Remove the name of a network from `networks` of the deployment. */
  'change_networks',
  /** Remove the residency rule; for blocked countries, remove only the country of the candidate node. */
  'change_residency',
  'lower_request',
  'raise_quota',
  'enforce_residency',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export const changeShape = object({
  kind: oneOf(CHANGE_KINDS),
  /** The change as one sentence for people. */
  text: string(),
  label: optional(string()),
  value: optional(string()),
  /** The placement constraint to change. A long list of values is cut to the first ones. */
  constraint: optional(constraintShape),
  demand: optional(oneOf(RESIDENCY_DEMANDS)),
  /** Resources to free (`free`), or the new requests (`lower_request`). An absent resource stays unchanged. */
  resources: optional(object({ cpuMillis: optional(integer()), memoryBytes: optional(integer()) })),
  /** Name of the other deployment that the change concerns. */
  deployment: optional(string()),
  /** Name of the network that the deployment must no longer name. */
  network: optional(string()),
  nodeId: optional(branded<NodeId>()),
  /** The new quota of containers that the change sets. */
  limit: optional(integer()),
})
export type Change = Infer<typeof changeShape>

/** Changes that must all be made before the node accepts a replica. */
export const cureShape = object({ text: string(), changes: list(changeShape) })
export type Cure = Infer<typeof cureShape>

export const candidateShape = object({
  nodeId: branded<NodeId>(),
  nodeName: string(),
  refusals: list(refusalShape),
  /** Changes after which the node would accept a replica; absent if no change is needed or the tenant cannot help. */
  cure: optional(cureShape),
})
export type Candidate = Infer<typeof candidateShape>

/** A container that fails although its replica has a node. */
export const failingContainerShape = object({
  replica: integer(),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  revision: integer(),
  /** The reason that the agent reports, as one word; empty while the container runs again after an exit. */
  reason: string(),
  /** Why the container fails, in words and at most 1 KiB. */
  cause: string(),
  restarts: integer(),
  lastExit: optional(lastExitShape),
  /** How many health checks failed in a row; absent if none did. */
  failedChecks: optional(integer()),
})
export type FailingContainer = Infer<typeof failingContainerShape>

/** Nodes that refuse a replica for the same reasons, or accept one: a group without reasons. */
export const nodeGroupShape = object({
  reasons: list(
    object({
      filter: oneOf(FILTERS),
      code: string(),
      required: json<Json>(),
      /**
       * The value that the nodes report. If the values differ, numbers are given as a range `{least, most}`, and other
       * values as a list of some of them, `{anyOf}`.
       */
      reported: json<Json>(),
      /** The smallest change after which the filter accepts a node; absent if it differs from node to node. */
      fix: optional(string()),
    }),
  ),
  /** The cheapest changes after which one of the nodes, which the text names, accepts a replica. */
  cure: optional(cureShape),
  count: integer({ description: 'Number of nodes in the group' }),
  nodes: list(string({ description: 'Name of a node' })),
})
export type NodeGroup = Infer<typeof nodeGroupShape>

export const whyShape = object({
  decidedAt: nullable(string()),
  phase: string(),
  summary: string(),
  /** The containers that fail, lowest replica first, at most ten; absent if none does. */
  containers: optional(list(failingContainerShape)),
  /**
   * One page of the nodes, by name; of the canary's replicas if only they lack a node. Empty in the view `groups`, and if
   * every replica has a node and no view is asked for.
   */
  candidates: list(candidateShape),
  /** The nodes in groups of equal reasons, the largest group first; only in the view `groups`. */
  groups: optional(list(nodeGroupShape)),
  /** The cursor of the next page; null on the last page. */
  nextCursor: optional(nullable(string())),
  /** Alternative changes, cheapest first. Each alone would allow a replica to be placed. */
  cure: list(string()),
  /** The canary in words, and why one of its replicas has no node; absent if the deployment has none. */
  canary: optional(string()),
  /** Of a volume with a primary: which copy continues without it, and what keeps each of the others from it. */
  ifPrimaryDies: optional(primaryDeathShape),
  scaling: optional(scalingStatusShape),
})
export type Why = Infer<typeof whyShape>
