// Data residency: the requirements of a deployment, the labels that store them, and matching node labels.

import { boolean, field, type Infer, list, map, object, optional, string } from '../shapes/shape.ts'
import { residencyTexts } from '../texts/placement-texts.ts'

/** Labels of a deployment that store its residency requirements. Only the server writes these labels. */
export const RESIDENCY_LABELS = {
  country: 'holdfast.io/data-residency-country',
  region: 'holdfast.io/data-residency-region',
  blockedCountries: 'holdfast.io/blocked-countries',
} as const

/** Node labels for the node's location. A value that the node's join token did not attest is ignored. */
export const NODE_COUNTRY = 'holdfast.io/country'
export const NODE_REGION = 'holdfast.io/geo-region'

export const RESIDENCY_DEMANDS = ['country', 'region', 'blockedCountries'] as const

/** The residency requirements of a deployment: its field `placement.residency`. */
export const residencyDemandShape = object({
  country: field(residencyTexts.country, optional(string())),
  region: field(residencyTexts.region, optional(string())),
  blockedCountries: field(residencyTexts.blockedCountries, optional(list(string()))),
})
export type ResidencyDemand = Infer<typeof residencyDemandShape>

/** The residency configuration of this control plane. */
export const residencyRulesShape = object({ enforcement: boolean(), regions: map(list(string())) })
export type ResidencyRules = Infer<typeof residencyRulesShape>

/** The response to GET /scheduler/regions. */
export const regionsShape = object({
  enforcement: boolean(),
  regions: list(object({ name: string(), countries: list(string()) })),
})
export type Regions = Infer<typeof regionsShape>
