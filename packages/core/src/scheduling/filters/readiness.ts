// Refuses nodes that are not ready, according to their newest status. For a control-plane node the caller fills in the
// status from the platform's own record.

import type { Filter } from '../refusal.ts'

export const readiness: Filter = {
  name: 'readiness',
  retryOn: ['node_status'],
  phrases: { node_not_ready: 'not ready' },
  reportsRecordFact: true,
  cacheKey: () => [],
  nodeKey: ({ status }) => status,
  refuse: (_workload, { status }) =>
    status === 'ready' ? undefined : { code: 'node_not_ready', required: 'ready', reported: status },
}
