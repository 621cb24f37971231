// Refuses cordoned nodes. Replicas that already run on a cordoned node stay there.

import type { Filter } from '../refusal.ts'

export const cordon: Filter = {
  name: 'cordon',
  retryOn: ['node_schedulable'],
  phrases: { node_cordoned: 'cordoned' },
  reportsRecordFact: true,
  cacheKey: () => [],
  nodeKey: ({ schedulable }) => schedulable,
  refuse: (_workload, { schedulable }) =>
    schedulable
      ? undefined
      : { code: 'node_cordoned', required: { schedulable: true }, reported: { schedulable: false } },
}
