// Requires that the node is in the region the deployment demands: the node reports that region, or a country that the
// region covers. A node that reports neither is refused.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { labelOf } from '../labels.ts'
import type { Filter } from '../refusal.ts'
import { isInRegion } from '../residency.ts'

export const residencyRegion: Filter = {
  name: 'residency_region',
  retryOn: ['node_labels', 'deployment'],
  phrases: { residency_region_mismatch: 'not in the required region' },
  reportsRecordFact: true,
  cacheKey: ({ residency }) => [residency?.region, residency?.regionCountries],
  refuse({ residency }, { labels }) {
    if (residency?.region === undefined || isInRegion(residency, labels)) return undefined
    return {
      code: 'residency_region_mismatch',
      required: { [NODE_REGION]: residency.region },
      reported: {
        [NODE_REGION]: labelOf(NODE_REGION, labels) ?? null,
        [NODE_COUNTRY]: labelOf(NODE_COUNTRY, labels) ?? null,
      },
    }
  },
}
