// Where work may be: what a deployment demands, which labels that is stored as, and which labels of a node answer it. SPEC 2.7,
// DECISIONS 3 and 7.

import { boolean, described, type Infer, list, map, object, optional, string } from '../shapes/shape.ts'

/** What a deployment's demand is stored as; written by the server alone. */
export const RESIDENCY_LABELS = {
  country: 'holdfast.io/data-residency-country',
  region: 'holdfast.io/data-residency-region',
  blockedCountries: 'holdfast.io/blocked-countries',
} as const

/** What a node advertises, within what its join token attested. */
export const NODE_COUNTRY = 'holdfast.io/country'
export const NODE_REGION = 'holdfast.io/geo-region'

export const RESIDENCY_DEMANDS = ['country', 'region', 'blockedCountries'] as const

/** What a deployment sends: `placement.residency`. */
export const residencyDemandShape = object({
  country: optional(string({ description: 'ISO 3166-1 alpha-2, two capital letters' })),
  region: optional(string({ description: 'One of GET /api/v1/scheduler/regions' })),
  blockedCountries: optional(described('Countries in which no replica may run', list(string()))),
})
export type ResidencyDemand = Infer<typeof residencyDemandShape>

/** What this control plane was configured with. */
export const residencyRulesShape = object({ enforcement: boolean(), regions: map(list(string())) })
export type ResidencyRules = Infer<typeof residencyRulesShape>

/** GET /scheduler/regions. */
export const regionsShape = object({
  enforcement: boolean(),
  regions: list(object({ name: string(), countries: list(string()) })),
})
export type Regions = Infer<typeof regionsShape>
