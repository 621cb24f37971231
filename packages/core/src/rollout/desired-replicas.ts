// The input of replica planning: the desired replicas, and what is known of their nodes and containers.

import type { AssignmentId, NodeId, Observation, RevisionTarget } from '@holdfast/contract'

/**
 * What happens to the replicas of one deployment on a node.
 * `absent`: the node is no longer enrolled, and neither are they.
 * `failed`: the node is lost; they are replaced.
 * `leaving`: each goes once its successor serves.
 * `stranded`: they should go, but no other node accepts them, so they stay until one does.
 * `barred`: they must not be there, and no other node accepts them, so they are stopped at once.
 * `staying`: they stay.
 */
export type NodeDisposition = 'absent' | 'failed' | 'leaving' | 'stranded' | 'barred' | 'staying'

/** Whether the reports of the node's agent are still valid. */
export const hasValidReports = (disposition: NodeDisposition): boolean =>
  disposition !== 'absent' && disposition !== 'failed'

export interface ReplicaFacts {
  dispositionOf(nodeId: NodeId): NodeDisposition
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'> | undefined
  /** The quota of containers, less the containers of other deployments. */
  readonly room: number
}

export interface DesiredReplicas {
  readonly count: number
  /** The revision that new replicas are created from; undefined while none is known. */
  readonly aim: RevisionTarget | undefined
  /** Running replicas keep their revision: only lost and leaving ones are replaced, each by one like itself. */
  readonly hold: boolean
  readonly stopFirst: boolean
  /** A read-write mount: two replicas must never exist at once, so not even a lost one is replaced. */
  readonly stateful: boolean
  /** How many numbers may be replaced at once. */
  readonly parallelism: number
  /** An update proceeds only while every replica it has created serves; other moves do not wait for a replica that failed. */
  readonly careful: boolean
  /** A dependency is unmet, so no replica may be created. */
  readonly gated: boolean
  /** Replicas of this good revision stay until their successors are ready, whatever is observed of them. */
  readonly goodHash: string | undefined
  /** A failed replica of the desired template is recreated if its revision is lower than this one. */
  readonly recreatedBefore: number
  /** The template of the paused revision: its failed replicas stay for inspection. */
  readonly failedHash: string | undefined
}

export interface MissingReplica extends RevisionTarget {
  readonly replica: number
}
