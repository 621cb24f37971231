// Jobs: their specs, and the state of their attempts. Their containers are in placements, as those of deployments are.

import {
  type AssignmentId,
  boolean,
  branded,
  type Infer,
  integer,
  JOB_PHASES,
  type JobId,
  jobSpecShape,
  map,
  type NodeId,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '@holdfast/contract'
import { tenantCollection, v } from './collection.ts'

export const storedJobShape = object({
  v,
  id: branded<JobId>(),
  spec: jobSpecShape,
  /** The digest of the image; null until a registry has resolved it. */
  digest: nullable(string()),
  /** The pinned version of each secret, by label; absent if none is pinned. A rotation moves them at the next attempt. */
  pins: optional(map(integer())),
  revision: integer(),
  createdAt: string(),
  /** The number of the quota slot that the job occupies until its end; null afterwards. */
  slot: nullable(integer()),
  phase: oneOf(JOB_PHASES),
  reason: string(),
  /** Why the job has no node, in words; empty otherwise. */
  unplaced: string(),
  cancelled: boolean(),
  /** The assignment of the attempt that runs; absent between attempts and after the end. */
  current: optional(branded<AssignmentId>()),
  /** The assignment of the last attempt, whose log its node keeps; absent before the first. */
  last: optional(branded<AssignmentId>()),
  attempts: integer(),
  failures: integer(),
  /** How the last attempt that has ended did so; absent before. */
  previous: optional(object({ reason: string(), exitCode: nullable(integer()) })),
  retryAt: optional(string()),
  deadlineAt: optional(string()),
  nodeId: nullable(branded<NodeId>()),
  /** The name of the node when the attempt was assigned, for messages after the node is gone. */
  nodeName: nullable(string()),
  startedAt: nullable(string()),
  finishedAt: nullable(string()),
  exitCode: nullable(integer()),
})
export type StoredJob = Infer<typeof storedJobShape>

export const jobs = tenantCollection('job', storedJobShape, true)
