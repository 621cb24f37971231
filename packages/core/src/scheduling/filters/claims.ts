// Requires that this tenant alone claims the machine. While one of two claims is being released, the node accepts no new
// replicas of either tenant.

import type { Filter } from '../refusal.ts'

const CODES = { releasing: 'node_claims_releasing', shared: 'node_claims_shared' } as const

export const claims: Filter = {
  name: 'claims',
  retryOn: ['node_claims'],
  phrases: { node_claims_releasing: 'being released', node_claims_shared: 'with another claim' },
  reportsRecordFact: true,
  cacheKey: () => [],
  nodeKey: ({ claim }) => claim,
  refuse: (_workload, { claim }) =>
    claim === 'sole' ? undefined : { code: CODES[claim], required: 'sole', reported: claim },
}
