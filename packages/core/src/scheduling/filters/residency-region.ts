// Does the node stand in the region that the deployment must be in? It says so itself, or it is in a country that the region
// covers. Hard: a node that reports neither is refused. SPEC 2.7.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { DesiredResidency } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedBy, rememberedFor } from '../remembered.ts'
import { isInRegion } from '../residency.ts'
import { fixOfLabel } from './fix-of-label.ts'
import { labelOf } from './label-constraint.ts'
import { textOfCountries } from './text-of-countries.ts'

export const residencyRegion: Filter = {
  name: 'residency_region',
  curedBy: ['node_labels', 'deployment'],
  phrases: { residency_region_mismatch: 'not in the required region' },
  keptFor: ({ residency }) => (residency?.region === undefined ? '' : textOf(residency.region, residency)),
  refuse({ residency }, { name, labels, attested }) {
    if (residency?.region === undefined || isInRegion(residency, labels)) return undefined
    const { required, reported, fix, fixByCountry } = saidFor(residency)
    const { country } = attested
    // Of the two labels that would do, the one that the node may report.
    const isCovered = country !== undefined && residency.regionCountries.includes(country)
    return {
      filter: 'residency_region',
      code: 'residency_region_mismatch',
      required,
      reported: reported(labelOf(NODE_REGION, labels))(labelOf(NODE_COUNTRY, labels)),
      fix: (isCovered ? fixByCountry(country) : fix(attested.region))(name),
    }
  },
}

const DEMAND = 'placement.residency.region'

const saidFor = rememberedFor(({ region = '' }: DesiredResidency) => ({
  required: { [NODE_REGION]: region },
  reported: rememberedBy((reported: string | undefined) =>
    rememberedBy((country: string | undefined) => ({
      [NODE_REGION]: reported ?? null,
      [NODE_COUNTRY]: country ?? null,
    })),
  ),
  fix: rememberedBy((attested: string | undefined) =>
    fixOfLabel({ label: NODE_REGION, value: region, attested }, DEMAND),
  ),
  fixByCountry: rememberedBy((country: string) =>
    fixOfLabel({ label: NODE_COUNTRY, value: country, attested: country }, DEMAND),
  ),
}))

/** What a region covers may differ between two servers, so it belongs to what was judged. */
const textOf = (region: string, { regionCountries }: DesiredResidency): string =>
  `${region}=${textOfCountries(regionCountries)}`
