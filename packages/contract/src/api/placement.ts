// Where the replicas of a deployment are, what they are made of, and why one is nowhere. DECISIONS 2, 4, 5 and 7.

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

/** Forward only. */
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

/** In the order in which they are told. */
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
  /** The smallest change that would cure this refusal. */
  fix: string(),
})
export type Refusal = Infer<typeof refusalShape>

/** One thing that somebody can do, to the candidate's node unless it says otherwise. */
export const CHANGE_KINDS = [
  'make_ready',
  'uncordon',
  /** In the configuration of its agent; `value` absent: the label is taken away. */
  'set_label',
  /** The node is enrolled anew, with a join token that attests it. */
  'attest_label',
  /** So much less is requested of the node by what runs there. */
  'free',
  /** One more replica of another deployment comes. */
  'place_beside',
  /** All replicas of another deployment go. */
  'move_away',
  /** The deployment names this node. */
  'name_node',
  /** This constraint is taken out. */
  'change_constraint',
  /** This name is taken out. */
  'change_affinity',
  'change_anti_affinity',
  /** This demand is taken out; of the blocked countries, this one. */
  'change_residency',
  'lower_request',
  'raise_quota',
  'enforce_residency',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export const changeShape = object({
  kind: oneOf(CHANGE_KINDS),
  /** In one sentence, for a person. */
  text: string(),
  label: optional(string()),
  value: optional(string()),
  /** Of a long list of values the first ones. */
  constraint: optional(constraintShape),
  demand: optional(oneOf(RESIDENCY_DEMANDS)),
  /** What is to become free, or what may be requested at the most; what is not named stays as it is. */
  resources: optional(object({ cpuMillis: optional(integer()), memoryBytes: optional(integer()) })),
  /** The other deployment. */
  deployment: optional(string()),
  nodeId: optional(branded<NodeId>()),
  /** The new limit of the quota of containers. */
  limit: optional(integer()),
})
export type Change = Infer<typeof changeShape>

/** All of it together makes the node take a replica, and nothing of it can be left out. */
export const cureShape = object({ text: string(), changes: list(changeShape) })
export type Cure = Infer<typeof cureShape>

export const candidateShape = object({
  nodeId: branded<NodeId>(),
  nodeName: string(),
  refusals: list(refusalShape),
  /** Absent where the node accepts, and where nothing that the tenant can do would make it. */
  cure: optional(cureShape),
})
export type Candidate = Infer<typeof candidateShape>

export const whyShape = object({
  decidedAt: nullable(string()),
  phase: string(),
  summary: string(),
  candidates: list(candidateShape),
  /** The changes of which any one would place a replica, the cheapest first. */
  cure: list(string()),
})
export type Why = Infer<typeof whyShape>

/** Which document gives the variables NAME_key. DECISIONS 5: the version is the pin, and null while the path has none. */
export const templateSecretShape = object({
  name: string(),
  namespace: string(),
  label: string(),
  version: nullable(integer()),
})
export type TemplateSecret = Infer<typeof templateSecretShape>

/** All that a container is made of, less the material of its secrets; its hash decides what is recreated. */
export const containerTemplateShape = object({
  name: string(),
  /** `host/repository@sha256:...`: a tag may move, a digest may not. */
  image: string(),
  command: optional(list(string())),
  args: optional(list(string())),
  environment: map(string()),
  /** References only: the material is asked for when the container is made. Absent where there are none. */
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

/** Immutable but for `desired`, which only moves on: running, stopped, removed. */
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

/** A revision and what its containers are made of. */
export const revisionTargetShape = object({ revision: integer(), templateHash: string() })
export type RevisionTarget = Infer<typeof revisionTargetShape>

/** How replicas become those of another revision. It is over, and absent, once that has run through its watch. */
export const rolloutShape = object({
  ...revisionTargetShape.fields,
  /** The revision that began it: a later one of the same template goes on with it. */
  since: integer(),
  startedAt: string(),
  /** When another replica was last found ready: the deadline and the watch count from here. */
  progressedAt: string(),
  /** The most replicas of this revision that were ready at once. */
  ready: integer(),
  state: oneOf(ROLLOUT_STATES),
  /** There were replicas, or a revision to go back to, before: only then can it fail. */
  replaces: boolean(),
  /** The quota of containers has taken an old replica before its successor came. */
  quotaReached: optional(boolean()),
  /** Why it is paused or goes back; `nodeId` is absent where the replica found no node. */
  failure: optional(
    object({ reason: string(), replica: integer(), nodeId: optional(branded<NodeId>()), at: string() }),
  ),
})
export type Rollout = Infer<typeof rolloutShape>

/** What an agent is told to have on its node, as it is sent: the template, which many items share, goes beside it. */
export const sentItemShape = object({
  assignmentId: branded<AssignmentId>(),
  deployment: branded<DeploymentUid>(),
  generation: integer(),
  templateHash: string(),
  desired: oneOf(DESIRED_STATES),
})
export type SentItem = Infer<typeof sentItemShape>

/** The same with its template: what an agent works with. */
export const desiredItemShape = object({ ...sentItemShape.fields, template: containerTemplateShape })
export type DesiredItem = Infer<typeof desiredItemShape>

/**
 * What of a deployment is to be reached from outside, as each node of the tenant is told. The replicas of the node itself
 * are known to its agent; `peers` are where the others take what is forwarded, as `host:port`.
 */
export const routedDeploymentShape = object({
  deployment: branded<DeploymentUid>(),
  name: string(),
  routes: list(routeShape),
  peers: list(string()),
})
export type RoutedDeployment = Infer<typeof routedDeploymentShape>

/** What an agent has seen of one assignment. `seq` grows with each report of the assignment. */
export const observationShape = object({
  assignmentId: branded<AssignmentId>(),
  generation: integer(),
  seq: integer(),
  state: oneOf(REPLICA_STATES),
  containerId: nullable(string()),
  startedAt: nullable(string()),
  exitCode: nullable(integer()),
  restarts: integer(),
  /** A reason in one word, for a state that is not the wished one: image_pull_failed, unhealthy, exited, ... */
  reason: string(),
  /** What the reason is about, of `secret_unresolved`: which entry and why, in words of ours. */
  about: optional(string()),
  /** What the broker gave with the environment: says which versions this container was started with. */
  proof: optional(string()),
  /** No container of the assignment exists any more, and none will be made. */
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
