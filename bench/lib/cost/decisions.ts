// The hot path of a decision: the node for one replica among 1,000 nodes of a tenant, every filter in use.

import { createSchedulingView } from '@holdfast/core/scheduling/index'
import { createLoad, tenantOf } from '../scheduling-load.ts'
import { charge, type HotPath } from './hot-path.ts'

const NODES = 1000

export function decisions(): HotPath {
  const decide = createLoad(createSchedulingView(tenantOf(NODES)))
  let decided = 0
  return {
    run(operations) {
      const end = decided + operations
      return charge(operations, () => {
        for (; decided < end; decided += 1) decide(decided)
      })
    },
  }
}
