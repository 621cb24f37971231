// Refuses nodes that are not ready. The newest status decides; for a control-plane node the caller has already filled it in
// from the platform's own record.

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
