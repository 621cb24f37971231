// The input of replica planning: the desired replicas, and what is known about their nodes and containers.

import type { Assignment, AssignmentId, NodeId, Observation, RevisionTarget } from '@holdfast/contract'
import type { FailureFacts } from '../node/container-cause.ts'

/**
 * What happens to the replicas of one deployment on a node.
 * `absent`: the node is no longer enrolled, so its replicas no longer exist.
 * `failed`: the node is lost; its replicas are replaced.
 * `leaving`: each replica is removed once its successor serves.
 * `stranded`: the replicas should leave, but stay until another node accepts them.
 * `barred`: the replicas must not run on the node and no other node accepts them, so they are stopped at once.
 * `staying`: the replicas stay.
 */
export type NodeDisposition = 'absent' | 'failed' | 'leaving' | 'stranded' | 'barred' | 'staying'

/** Whether the reports of a node's agent are still valid, given what happens to the replicas on the node. */
export const hasValidReports = (disposition: NodeDisposition): boolean =>
  disposition !== 'absent' && disposition !== 'failed'

export interface ReplicaFacts {
  dispositionOf(nodeId: NodeId): NodeDisposition
  /**
   * Whether the volumes that the replica wrote to have their primary on another node by now, so that it can no longer
   * write and its successor need not wait for its removal.
   */
  isSuperseded?(assignment: Assignment): boolean
  /** Whether the container cannot be created on the node of the replica, and another node accepts the replica. */
  isUncreated?(id: AssignmentId): boolean
  seen(id: AssignmentId): (FailureFacts & Pick<Observation, 'restarts' | 'gone'>) | undefined
  /**
   * The number of containers that the tenant's quota allows for this deployment: the quota less the containers of other
   * deployments.
   */
  readonly room: number
}

export interface DesiredReplicas {
  readonly count: number
  /** The revision that new replicas are created from; undefined while no such revision is known. */
  readonly aim: RevisionTarget | undefined
  /**
   * True while updates are on hold: running replicas keep their revision. Only lost and leaving replicas are replaced,
   * each by a replica of the same revision.
   */
  readonly hold: boolean
  readonly stopFirst: boolean
  /**
   * Whether the deployment has a read-write mount: two replicas must never exist at once, so not even a lost replica is
   * replaced.
   */
  readonly stateful: boolean
  /** The number of replica numbers that may be replaced at the same time. */
  readonly parallelism: number
  /**
   * True for the replacements of an update, which proceeds only while every replica that it created serves. Other
   * replacements do not wait for a failed replica.
   */
  readonly careful: boolean
  /** True while a dependency is not ready, so that no replica may be created. */
  readonly gated: boolean
  /**
   * The template hash of the last good revision. Replicas of that revision stay until their successors are ready, even if
   * an agent reports a problem.
   */
  readonly goodHash: string | undefined
  /** Revision below which a failed replica of the desired template is recreated. */
  readonly recreatedBefore: number
  /** The template hash of the paused revision, whose failed replicas stay for inspection. */
  readonly failedHash: string | undefined
}

export interface MissingReplica extends RevisionTarget {
  readonly replica: number
}
