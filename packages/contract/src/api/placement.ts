// Placement of replicas: assignments, container templates and observations.

import type { AssignmentId, NodeId, VolumeId } from '../ids.ts'
import type { Owner } from '../owner.ts'
import {
  boolean,
  branded,
  duration,
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
import { lastExitShape } from './container-end.ts'
import { healthCheckShape, limitsShape, MOUNT_TYPES } from './deployment.ts'

/** The states of a replica. A replica only moves forward in this order. */
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

/**
 * Reference to a secret. Each key of the secret becomes the variable NAME_key. `version` is the pinned version, or null
 * while the secret has no version.
 */
export const templateSecretShape = object({
  name: string(),
  namespace: string(),
  label: string(),
  version: nullable(integer()),
})
export type TemplateSecret = Infer<typeof templateSecretShape>

/** A volume inside a container. `sizeBytes` is the size of a tmpfs; other types are limited by the volume itself. */
export const templateMountShape = object({
  volume: branded<VolumeId>(),
  target: string(),
  type: oneOf(MOUNT_TYPES),
  readOnly: boolean(),
  sizeBytes: optional(integer()),
})
export type TemplateMount = Infer<typeof templateMountShape>

/** Everything a container is created from, except secret values. Another hash of its template recreates a container. */
export const containerTemplateShape = object({
  name: string(),
  /** The image as `host/repository@sha256:...`. Unlike a tag, a digest always means the same content. */
  image: string(),
  command: optional(list(string())),
  args: optional(list(string())),
  environment: map(string()),
  /** References to secrets; absent if there are none. The agent fetches the values when it creates the container. */
  secrets: optional(list(templateSecretShape)),
  composedEnvironment: optional(map(string())),
  healthCheck: optional(healthCheckShape),
  limits: optional(limitsShape),
  mounts: optional(list(templateMountShape)),
  /** The names of the networks that the container joins; absent: the network of the tenant on the node. */
  networks: optional(list(string())),
  /** `once`: the container of a job, never started again after its end. */
  runs: optional(oneOf(['once'])),
  labels: map(string()),
  stopGracePeriod: duration(),
})
export type ContainerTemplate = Infer<typeof containerTemplateShape>

export const DESIRED_STATES = ['running', 'stopped', 'removed'] as const
export type DesiredState = (typeof DESIRED_STATES)[number]

/** An assignment never changes, except for `desired`, which only advances: running, stopped, removed. */
export const assignmentShape = object({
  id: branded<AssignmentId>(),
  replica: integer(),
  nodeId: branded<NodeId>(),
  revision: integer(),
  templateHash: string(),
  desired: oneOf(DESIRED_STATES),
  assignedAt: string(),
  /**
   * True for a replica of a canary, beside the replica of the same number. The mark is removed when the canary is
   * promoted.
   */
  canary: optional(boolean()),
})
export type Assignment = Infer<typeof assignmentShape>

/** An assignment that left the placement, remembered to find the kept log of its container. */
export const formerAssignmentShape = object({
  id: branded<AssignmentId>(),
  replica: integer(),
  nodeId: branded<NodeId>(),
  revision: integer(),
  leftAt: string(),
  /** True for a former replica of a canary. */
  canary: optional(boolean()),
})
export type FormerAssignment = Infer<typeof formerAssignmentShape>

export const ROLLOUT_STATES = ['progressing', 'paused', 'rolling_back'] as const

/** A revision and the hash of its container template. */
export const revisionTargetShape = object({ revision: integer(), templateHash: string() })
export type RevisionTarget = Infer<typeof revisionTargetShape>

/** The state of a rolling update, stored until the new revision has passed its watch window. */
export const rolloutShape = object({
  ...revisionTargetShape.fields,
  /** The revision that started the update. A later revision with the same template continues the update. */
  since: integer(),
  startedAt: string(),
  /** Time at which the revision continued the update; absent while the revision is the one that started it. */
  continuedAt: optional(string()),
  /** Time at which a further replica last became ready. The progress deadline starts at this time. */
  progressedAt: string(),
  /**
   * Time at which all replicas were ready for the first time, where the watch window of the template starts; absent until
   * then. A later revision that only changes the number of replicas keeps it.
   */
  watchedSince: optional(string()),
  /** The highest number of replicas of the new revision that were ready at the same time. */
  ready: integer(),
  state: oneOf(ROLLOUT_STATES),
  /** True if the update replaces replicas or a revision that worked. A first rollout replaces none. */
  replaces: boolean(),
  /** True if the quota of containers forced an old replica to stop before its successor started. */
  quotaReached: optional(boolean()),
  /**
   * Why the update was paused or rolled back. A first rollout has nothing to return to: it keeps its state and keeps
   * trying. `nodeId` is absent if the failed replica had no node.
   */
  failure: optional(
    object({
      reason: string(),
      replica: integer(),
      nodeId: optional(branded<NodeId>()),
      /** Why the container failed, in words and at most 1 KiB; absent if the agent did not report it. */
      cause: optional(string()),
      at: string(),
    }),
  ),
})
export type Rollout = Infer<typeof rolloutShape>

/** An assignment as sent to an agent, without its template. Assignments share templates, which are sent separately. */
export const sentItemShape = object({
  assignmentId: branded<AssignmentId>(),
  owner: branded<Owner>(),
  generation: integer(),
  templateHash: string(),
  desired: oneOf(DESIRED_STATES),
  /** Capabilities that an agent needs to create the container; absent if the template uses no optional member. */
  needs: optional(list(string())),
})
export type SentItem = Infer<typeof sentItemShape>

/** An assignment with its template, as the agent uses it. */
export const desiredItemShape = object({ ...sentItemShape.fields, template: containerTemplateShape })
export type DesiredItem = Infer<typeof desiredItemShape>

/** Facts about the failures of a replica. Older agents report none of them. */
const failureFields = {
  /** How the last run that ended did so. It stays while a later run is up. */
  lastExit: optional(lastExitShape),
  /**
   * Why the replica fails, in at most 1 KiB: the output of the last failed health check, or the engine's error for an
   * image, a create or a start. Never log lines.
   */
  cause: optional(string()),
  /** How many health checks failed in a row, as last reported; absent if none did. */
  failedChecks: optional(integer()),
}

/** A node that could not create a container of an owner, and that gets no further replica of the owner for a while. */
export const avoidedNodeShape = object({
  nodeId: branded<NodeId>(),
  /** Time until which the node is avoided. */
  until: string(),
  /** Why the container could not be created, in words. */
  cause: string(),
})
export type AvoidedNode = Infer<typeof avoidedNodeShape>

/** The state of one assignment as its agent observed it. `seq` increases with each report about the assignment. */
export const observationShape = object({
  assignmentId: branded<AssignmentId>(),
  generation: integer(),
  seq: integer(),
  state: oneOf(REPLICA_STATES),
  containerId: nullable(string()),
  startedAt: nullable(string()),
  exitCode: nullable(integer()),
  restarts: integer(),
  /** Why the observed state differs from the desired one, as one word: image_pull_failed, unhealthy, exited, ... */
  reason: string(),
  /**
   * For `secret_unresolved`: which secret entry failed and why, as text written by the server. For `agent_version`: the
   * capabilities that the agent lacks. For `volume_not_mounted` and `volume_not_leased`: the volume and why it cannot be
   * mounted or written.
   */
  about: optional(string()),
  ...failureFields,
  /**
   * How many attempts in a row to create the container failed for a cause of the node, at most three; absent if the last
   * attempt did not. Older agents do not report it.
   */
  nodeFailures: optional(integer()),
  /** Proves which secret versions the container was started with. The server sends the proof with the environment. */
  proof: optional(string()),
  /** True if no container of the assignment exists and none will be created. */
  gone: boolean(),
})
export type Observation = Infer<typeof observationShape>

export const placementEntryShape = object({
  replica: integer(),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  state: oneOf(REPLICA_STATES),
  containerId: nullable(string()),
  /** Start of the container's current run; null while it does not run, for example between an exit and the restart. */
  startedAt: nullable(string()),
  revision: integer(),
  /** True for a replica of a canary; absent for the others. */
  canary: optional(boolean()),
  /** Why the observed state differs from the desired one, as in an observation; absent if it does not. */
  reason: optional(string()),
  /** How often the container was started again. */
  restarts: optional(integer()),
  ...failureFields,
})
export type PlacementEntry = Infer<typeof placementEntryShape>
