// Is the node open for new work? What already runs on a cordoned node stays. DECISIONS 5.

import type { Filter } from '../refusal.ts'

const REQUIRED = { schedulable: true }
const REPORTED = { schedulable: false }
export const cordon: Filter = {
  name: 'cordon',
  curedBy: ['node_schedulable'],
  phrases: { node_cordoned: 'cordoned' },
  keptFor: () => '',
  refuse(_workload, { name, schedulable }) {
    if (schedulable) return undefined
    return {
      filter: 'cordon',
      code: 'node_cordoned',
      fix: `Uncordon ${name}.`,
      required: REQUIRED,
      reported: REPORTED,
    }
  },
}
