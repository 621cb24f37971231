// Follows which attempts of jobs were abandoned because their node had failed. Only `onNodeLoss: retry` allows this, and only
// for the attempt that the job had then.

import type { AssignmentId, JobId, NodeId, TenantId } from '@holdfast/contract'
import type { Moment } from '../moment.ts'
import { isFailed } from '../nodes/is-failed.ts'

export interface LostAttempts {
  note(moment: Moment): void
  has(id: AssignmentId): boolean
  countOf(job: JobId): number
}

export function createLostAttempts(): LostAttempts {
  const lost = new Map<AssignmentId, JobId>()
  return {
    note(moment) {
      for (const { tenant, was, is } of moment.jobs.changed) {
        if (tenant === undefined || was?.current === undefined || is === undefined) continue
        const isCounted = is.failures > was.failures || is.finishedAt !== null
        const isAllowed = is.spec.onNodeLoss === 'retry' && !was.cancelled
        if (was.current === is.current || isCounted || !isAllowed) continue
        if (hasFailed(moment, tenant, was.nodeId)) lost.set(was.current, is.id)
      }
    },
    has: (id) => lost.has(id),
    countOf: (job) => [...lost.values()].filter((each) => each === job).length,
  }
}

/** A node that returns at the same moment was failed when the attempt was abandoned. */
const hasFailed = ({ nodes }: Moment, tenant: TenantId, id: NodeId | null): boolean =>
  id !== null && [nodes.is(tenant, id), nodes.was(tenant, id)].some(isFailed)
