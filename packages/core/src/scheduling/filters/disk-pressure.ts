// Refuses nodes whose engine has a nearly full disk: a new image may not fit. Replicas that run there stay.

import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

const isPressed = ({ faults }: Pick<NodeFacts, 'faults'>): boolean =>
  faults?.includes('disk_pressure') === true

export const diskPressure: Filter = {
  name: 'disk_pressure',
  retryOn: ['node_status'],
  phrases: { disk_pressure: 'with a nearly full disk' },
  reportsRecordFact: true,
  cacheKey: () => [],
  nodeKey: isPressed,
  refuse: (_workload, node) =>
    isPressed(node)
      ? { code: 'disk_pressure', required: { diskPressure: false }, reported: { diskPressure: true } }
      : undefined,
}
