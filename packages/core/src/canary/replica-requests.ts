// The resources that one replica requests: a replica of a canary may request more or less than those beside it.

import type { Assignment, Capacity } from '@holdfast/contract'
import { isCanaryReplica } from './split-assignments.ts'

export interface ReplicaRequests {
  readonly resources: Capacity
  /** The resources that each replica of the canary requests; absent if the owner has no canary. */
  readonly canaryResources?: Capacity
}

export const requestedBy = (
  { resources, canaryResources = resources }: ReplicaRequests,
  replica: Pick<Assignment, 'canary'>,
): Capacity => (isCanaryReplica(replica) ? canaryResources : resources)
