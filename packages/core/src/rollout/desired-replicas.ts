// What replicas are judged by: what is wished of them, and what is known of their nodes and containers.

import type { AssignmentId, NodeId, Observation, RevisionTarget } from '@holdfast/contract'

/**
 * What a node is for the replicas of one deployment. `absent`: no longer enrolled. `failed`: silent for so long that it counts
 * as lost. `leaving`: they are to go, each once its successor serves. `stranded`: they are to go, and no other node takes
 * them, so they stay until one does. `barred`: they may not be there, and no other node takes them, so they go at once.
 */
export type NodeDisposition = 'absent' | 'failed' | 'leaving' | 'stranded' | 'barred' | 'staying'

/** Whether what its agent says still counts. */
export const isHeard = (disposition: NodeDisposition): boolean =>
  disposition !== 'absent' && disposition !== 'failed'

export interface ReplicaFacts {
  dispositionOf(nodeId: NodeId): NodeDisposition
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'> | undefined
  /** The quota of containers, less what other deployments have of it. */
  readonly room: number
}

export interface DesiredReplicas {
  readonly count: number
  /** What replicas are to be made of; undefined where nothing is known that one could be made of. */
  readonly aim: RevisionTarget | undefined
  /** Whatever runs stays what it is: only lost and leaving replicas are replaced, each by one like itself. */
  readonly hold: boolean
  readonly stopFirst: boolean
  /** A read-write mount: two at once may never be, so not even a lost one is replaced. */
  readonly stateful: boolean
  /** Numbers that are being replaced at once. */
  readonly parallelism: number
  /** An update goes on only while all that it has made serves; other moves do not wait for what fell ill on its own. */
  readonly careful: boolean
  /** Nothing new may be made now. */
  readonly gated: boolean
  /** What ran well is kept until its successor is ready, whatever is seen of it at this moment. */
  readonly goodHash: string | undefined
  /** What was made of the aim for an earlier revision, and failed, is made anew. */
  readonly recreatedBefore: number
  /** The revision that is paused: what of it failed is left for inspection. */
  readonly failedHash: string | undefined
}

export interface MissingReplica extends RevisionTarget {
  readonly replica: number
}
