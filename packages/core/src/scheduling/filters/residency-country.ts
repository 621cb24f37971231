// Requires that the node is in the country the deployment demands. A node that reports no country is refused.

import { NODE_COUNTRY } from '@holdfast/contract'
import { labelOf } from '../labels.ts'
import type { Filter } from '../refusal.ts'
import { isInCountry } from '../residency.ts'

export const residencyCountry: Filter = {
  name: 'residency_country',
  retryOn: ['node_labels', 'deployment'],
  phrases: { residency_country_mismatch: 'not in the required country' },
  reportsRecordFact: true,
  cacheKey: ({ residency }) => [residency?.country],
  refuse({ residency }, { labels }) {
    if (residency?.country === undefined || isInCountry(residency, labels)) return undefined
    return {
      code: 'residency_country_mismatch',
      required: { [NODE_COUNTRY]: residency.country },
      reported: { [NODE_COUNTRY]: labelOf(NODE_COUNTRY, labels) ?? null },
    }
  },
}
