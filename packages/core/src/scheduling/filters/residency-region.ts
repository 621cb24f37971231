// Does the node stand in the region that the deployment must be in? It says so itself, or it is in a country that the region
// covers. Hard: a node that reports neither is refused. SPEC 2.7.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { NodeFacts, ResidencyWish } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { isInRegion } from '../residency.ts'
import { fixOfLabel, type WantedLabel } from './fix-of-label.ts'
import { labelOf } from './label-constraint.ts'
import { textOfCountries } from './text-of-countries.ts'

export const residencyRegion: Filter = {
  name: 'residency_region',
  curedBy: ['node_labels', 'deployment'],
  phrases: { residency_region_mismatch: 'not in the required region' },
  keptFor: ({ residency }) => (residency?.region === undefined ? '' : textOf(residency.region, residency)),
  refuse({ residency }, { name, labels, attested }) {
    if (residency?.region === undefined || isInRegion(residency, labels)) return undefined
    const { region } = residency
    return {
      filter: 'residency_region',
      code: 'residency_region_mismatch',
      required: { [NODE_REGION]: region },
      reported: {
        [NODE_REGION]: labelOf(NODE_REGION, labels) ?? null,
        [NODE_COUNTRY]: labelOf(NODE_COUNTRY, labels) ?? null,
      },
      fix: `${fixOfLabel(name, wantedOf(region, residency, attested))}, or change placement.residency.region.`,
    }
  },
}

/** What a region covers may differ between two servers, so it belongs to what was judged. */
const textOf = (region: string, { regionCountries }: ResidencyWish): string =>
  `${region}=${textOfCountries(regionCountries)}`

/** Of the two labels that would do, the one that the node may report. */
function wantedOf(
  region: string,
  { regionCountries }: ResidencyWish,
  { country, region: attested }: NodeFacts['attested'],
): WantedLabel {
  return country !== undefined && regionCountries.includes(country)
    ? { label: NODE_COUNTRY, value: country, attested: country }
    : { label: NODE_REGION, value: region, attested }
}
