// Refuses nodes that could not create a container of the deployment lately, for a cause of their own. Replicas that run
// there stay. See docs/design/nodes-that-fail.md

import type { NodeFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'

const causeOn = ({ avoids }: Workload, { id }: Pick<NodeFacts, 'id'>): string | undefined =>
  avoids?.find(({ nodeId }) => nodeId === id)?.cause

export const creation: Filter = {
  name: 'creation',
  retryOn: ['deployment'],
  phrases: { creation_failed: 'that could not create the container' },
  reportsRecordFact: false,
  cacheKey: ({ avoids }) => (avoids === undefined ? [] : [JSON.stringify(avoids)]),
  refuse(workload, node) {
    const cause = causeOn(workload, node)
    return cause === undefined
      ? undefined
      : { code: 'creation_failed', required: { created: true }, reported: { created: false, cause } }
  },
}

/** Distinguishes nodes by why they could not create a container. */
export const keyOfCreation = (workload: Workload, node: NodeFacts): string => {
  const cause = causeOn(workload, node)
  return cause === undefined ? '' : `!${cause.length}:${cause}`
}
