// Placement of replicas: assignments, container templates, observations, and the explanation of a replica without a
// node.

import type { AssignmentId, DeploymentUid, NodeId } from '../ids.ts'
import type { Json } from '../json/json.ts'
import {
  boolean,
  branded,
  duration,
  type Infer,
  integer,
  json,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { constraintShape, healthCheckShape, limitsShape, routeShape } from './deployment.ts'
import { RESIDENCY_DEMANDS } from './residency.ts'

/** States only advance in this order. */
export const REPLICA_STATES = [
  'pending',
  'assigned',
  'pulling',
  'starting',
  'running',
  'ready',
  'stopping',
  'stopped',
  'failed',
  'lost',
] as const
export type ReplicaState = (typeof REPLICA_STATES)[number]

/** In the order in which refusals are listed. */
export const FILTERS = [
  'readiness',
  'cordon',
  'control_plane_node',
  'claims',
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
  'quota',
] as const
export type FilterName = (typeof FILTERS)[number]

export const refusalShape = object({
  filter: oneOf(FILTERS),
  code: string(),
  required: json<Json>(),
  reported: json<Json>(),
  /** The smallest change that would remove this refusal. */
  fix: string(),
})
export type Refusal = Infer<typeof refusalShape>

/** One change that would help, to the candidate's node unless the kind names something else. */
export const CHANGE_KINDS = [
  'make_ready',
  'uncordon',
  /** In the configuration of the agent. Without `value` the label is removed. */
  'set_label',
  /** The node is enrolled again with a join token that attests the label. */
  'attest_label',
  /** The replicas on the node request less. */
  'free',
  /** Another deployment gets one more replica on the node. */
  'place_beside',
  /** All replicas of another deployment leave the node. */
  'move_away',
  /** The deployment names this node in `nodeId`. */
  'name_node',
  /** The constraint is removed. */
  'change_constraint',
  /** The name is removed. */
  'change_affinity',
  'change_anti_affinity',
  /** The residency rule is removed; of the blocked countries, this one. */
  'change_residency',
  'lower_request',
  'raise_quota',
  'enforce_residency',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export const changeShape = object({
  kind: oneOf(CHANGE_KINDS),
  /** One sentence for people. */
  text: string(),
  label: optional(string()),
  value: optional(string()),
  /** Only the first values of a long list. */
  constraint: optional(constraintShape),
  demand: optional(oneOf(RESIDENCY_DEMANDS)),
  /** The resources to free, or the most that may be requested. Absent ones stay unchanged. */
  resources: optional(object({ cpuMillis: optional(integer()), memoryBytes: optional(integer()) })),
  /** The other deployment. */
  deployment: optional(string()),
  nodeId: optional(branded<NodeId>()),
  /** The new quota of containers. */
  limit: optional(integer()),
})
export type Change = Infer<typeof changeShape>

/** All changes together make the node accept a replica; none of them can be left out. */
export const cureShape = object({ text: string(), changes: list(changeShape) })
export type Cure = Infer<typeof cureShape>

export const candidateShape = object({
  nodeId: branded<NodeId>(),
  nodeName: string(),
  refusals: list(refusalShape),
  /** Absent if the node accepts, or if nothing the tenant can do would make it accept. */
  cure: optional(cureShape),
})
export type Candidate = Infer<typeof candidateShape>

export const whyShape = object({
  decidedAt: nullable(string()),
  phase: string(),
  summary: string(),
  candidates: list(candidateShape),
  /** Changes that would each place a replica, cheapest first. */
  cure: list(string()),
})
export type Why = Infer<typeof whyShape>

/**
 * The document that provides the variables NAME_key. The version is the pinned one, or null while the path has none.
 */
export const templateSecretShape = object({
  name: string(),
  namespace: string(),
  label: string(),
  version: nullable(integer()),
})
export type TemplateSecret = Infer<typeof templateSecretShape>

/**
 * Everything a container is created from, except secret material. Its hash decides whether a container is recreated.
 */
export const containerTemplateShape = object({
  name: string(),
  /** `host/repository@sha256:...`: unlike a tag, a digest never changes its content. */
  image: string(),
  command: optional(list(string())),
  args: optional(list(string())),
  environment: map(string()),
  /** References only; the material is fetched when the container is created. Absent if there are none. */
  secrets: optional(list(templateSecretShape)),
  composedEnvironment: optional(map(string())),
  healthCheck: optional(healthCheckShape),
  limits: optional(limitsShape),
  labels: map(string()),
  stopGracePeriod: duration(),
})
export type ContainerTemplate = Infer<typeof containerTemplateShape>

export const DESIRED_STATES = ['running', 'stopped', 'removed'] as const
export type DesiredState = (typeof DESIRED_STATES)[number]

/** Immutable except for `desired`, which only advances: running, stopped, removed. */
export const assignmentShape = object({
  id: branded<AssignmentId>(),
  replica: integer(),
  nodeId: branded<NodeId>(),
  revision: integer(),
  templateHash: string(),
  desired: oneOf(DESIRED_STATES),
  assignedAt: string(),
})
export type Assignment = Infer<typeof assignmentShape>

export const ROLLOUT_STATES = ['progressing', 'paused', 'rolling_back'] as const

/** A revision and the hash of its container template. */
export const revisionTargetShape = object({ revision: integer(), templateHash: string() })
export type RevisionTarget = Infer<typeof revisionTargetShape>

/** An update in progress. It is absent again once the new revision has passed its watch window. */
export const rolloutShape = object({
  ...revisionTargetShape.fields,
  /** The revision that started it. A later revision with the same template continues it. */
  since: integer(),
  startedAt: string(),
  /** When another replica last became ready. The deadline and the watch window start here. */
  progressedAt: string(),
  /** The most replicas of this revision that were ready at the same time. */
  ready: integer(),
  state: oneOf(ROLLOUT_STATES),
  /** Whether replicas or a good revision existed before. Only then can the update fail. */
  replaces: boolean(),
  /** The quota of containers forced an old replica to stop before its successor started. */
  quotaReached: optional(boolean()),
  /** Why it is paused or rolled back; `nodeId` is absent if the replica had no node. */
  failure: optional(
    object({ reason: string(), replica: integer(), nodeId: optional(branded<NodeId>()), at: string() }),
  ),
})
export type Rollout = Infer<typeof rolloutShape>

/** An assignment as it is sent to an agent. The template is sent once, because many items share it. */
export const sentItemShape = object({
  assignmentId: branded<AssignmentId>(),
  deployment: branded<DeploymentUid>(),
  generation: integer(),
  templateHash: string(),
  desired: oneOf(DESIRED_STATES),
})
export type SentItem = Infer<typeof sentItemShape>

/** An assignment with its template, as the agent uses it. */
export const desiredItemShape = object({ ...sentItemShape.fields, template: containerTemplateShape })
export type DesiredItem = Infer<typeof desiredItemShape>

/**
 * A deployment with routes, as it is sent to each node of the tenant. The agent knows the replicas on its own node;
 * `peers` are the routers of the other nodes, as `host:port`.
 */
export const routedDeploymentShape = object({
  deployment: branded<DeploymentUid>(),
  name: string(),
  routes: list(routeShape),
  peers: list(string()),
})
export type RoutedDeployment = Infer<typeof routedDeploymentShape>

/** The state of one assignment as its agent observed it. `seq` grows with each report of the assignment. */
export const observationShape = object({
  assignmentId: branded<AssignmentId>(),
  generation: integer(),
  seq: integer(),
  state: oneOf(REPLICA_STATES),
  containerId: nullable(string()),
  startedAt: nullable(string()),
  exitCode: nullable(integer()),
  restarts: integer(),
  /** One word for a state other than the desired one: image_pull_failed, unhealthy, exited, ... */
  reason: string(),
  /** For `secret_unresolved`: which entry and why, in the server's own words. */
  about: optional(string()),
  /** Sent by the broker with the environment. It proves which secret versions the container was started with. */
  proof: optional(string()),
  /** No container of the assignment exists, and none will be created. */
  gone: boolean(),
})
export type Observation = Infer<typeof observationShape>

export const placementEntryShape = object({
  replica: integer(),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  state: oneOf(REPLICA_STATES),
  containerId: nullable(string()),
  startedAt: nullable(string()),
  revision: integer(),
})
export type PlacementEntry = Infer<typeof placementEntryShape>
