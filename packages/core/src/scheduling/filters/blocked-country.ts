// Does the node stand in a country where the deployment must not be? A node that reports no country is in none of the list,
// so it passes; one that reports another than it was attested stands where it was attested. SPEC 2.7, DECISIONS 7.

import { NODE_COUNTRY } from '@holdfast/contract'
import type { DesiredResidency } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedBy, rememberedFor } from '../remembered.ts'
import { countryOf, isBlocked } from '../residency.ts'
import { textOfCountries } from './text-of-countries.ts'

export const blockedCountry: Filter = {
  name: 'blocked_country',
  curedBy: ['node_labels', 'deployment'],
  phrases: { residency_country_blocked: 'in a blocked country' },
  keptFor: ({ residency }) => textOfCountries(residency?.blockedCountries ?? []),
  refuse({ residency }, node) {
    if (residency === undefined || !isBlocked(residency, node)) return undefined
    const { required, reported, fix } = saidFor(residency)
    const country = countryOf(node) ?? ''
    return {
      filter: 'blocked_country',
      code: 'residency_country_blocked',
      required,
      reported: reported(country),
      fix: `Enroll a node in another country than ${node.name}${fix(country)}`,
    }
  },
}

const saidFor = rememberedFor(({ blockedCountries = [] }: DesiredResidency) => ({
  required: { [NODE_COUNTRY]: { none: [...blockedCountries] } },
  reported: rememberedBy((country: string) => ({ [NODE_COUNTRY]: country })),
  fix: rememberedBy((country: string) => `, or take ${country} out of placement.residency.blockedCountries.`),
}))
