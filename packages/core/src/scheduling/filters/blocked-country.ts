// Does the node stand in a country where the deployment must not be? A node that reports no country is in none of the list,
// so it passes. SPEC 2.7, DECISIONS 7.

import { NODE_COUNTRY } from '@holdfast/contract'
import type { Filter } from '../refusal.ts'
import { isBlocked } from '../residency.ts'
import { labelOf } from './label-constraint.ts'
import { textOfCountries } from './text-of-countries.ts'

export const blockedCountry: Filter = {
  name: 'blocked_country',
  curedBy: ['node_labels', 'deployment'],
  phrases: { residency_country_blocked: 'in a blocked country' },
  keptFor: ({ residency }) => textOfCountries(residency?.blockedCountries ?? []),
  refuse({ residency }, { name, labels }) {
    if (residency === undefined || !isBlocked(residency, labels)) return undefined
    const country = labelOf(NODE_COUNTRY, labels) ?? null
    return {
      filter: 'blocked_country',
      code: 'residency_country_blocked',
      required: { [NODE_COUNTRY]: { none: [...(residency.blockedCountries ?? [])] } },
      reported: { [NODE_COUNTRY]: country },
      fix: `Enrol a node in another country than ${name}, or take ${country} out of placement.residency.blockedCountries.`,
    }
  },
}
