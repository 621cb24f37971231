// Refuses nodes in a country where the deployment must not run. A node that reports no country passes. A node that
// reports another country than its join token attests is judged by the attested country.

import { NODE_COUNTRY } from '@holdfast/contract'
import type { Filter } from '../refusal.ts'
import { countryOf, isBlocked } from '../residency.ts'

export const blockedCountry: Filter = {
  name: 'blocked_country',
  retryOn: ['node_labels', 'deployment'],
  phrases: { residency_country_blocked: 'in a blocked country' },
  reportsRecordFact: true,
  cacheKey: ({ residency }) => [residency?.blockedCountries],
  refuse({ residency }, node) {
    if (residency === undefined || !isBlocked(residency, node)) return undefined
    return {
      code: 'residency_country_blocked',
      required: { [NODE_COUNTRY]: { none: [...(residency.blockedCountries ?? [])] } },
      reported: { [NODE_COUNTRY]: countryOf(node) ?? null },
    }
  },
}
