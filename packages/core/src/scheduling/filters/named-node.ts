// Refuses every node but the one that the deployment names in nodeId.

import type { Filter } from '../refusal.ts'

export const namedNode: Filter = {
  name: 'named_node',
  retryOn: ['deployment'],
  phrases: { not_the_named_node: 'excluded by nodeId' },
  reportsRecordFact: false,
  cacheKey: ({ nodeId }) => [nodeId],
  refuse: ({ nodeId }, { id }) =>
    nodeId === undefined || nodeId === id
      ? undefined
      : { code: 'not_the_named_node', required: nodeId, reported: id },
}
