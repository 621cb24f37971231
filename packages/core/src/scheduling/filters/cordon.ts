// Is the node open for new work? What already runs on a cordoned node stays. DECISIONS 5.

import type { Filter } from '../refusal.ts'

export const cordon: Filter = {
  name: 'cordon',
  phrases: { node_cordoned: 'cordoned' },
  keptFor: () => '',
  refuse(_workload, { name, schedulable }) {
    if (schedulable) return undefined
    return {
      filter: 'cordon',
      code: 'node_cordoned',
      fix: `Uncordon ${name}.`,
      required: { schedulable: true },
      reported: { schedulable: false },
      curedBy: ['node_schedulable'],
    }
  },
}
