// Does the node stand in the country that the deployment must be in? Hard: a node that reports none is refused. SPEC 2.7.

import { NODE_COUNTRY } from '@holdfast/contract'
import type { DesiredResidency } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedBy, rememberedFor } from '../remembered.ts'
import { isInCountry } from '../residency.ts'
import { fixOfLabel } from './fix-of-label.ts'
import { labelOf } from './label-constraint.ts'

export const residencyCountry: Filter = {
  name: 'residency_country',
  curedBy: ['node_labels', 'deployment'],
  phrases: { residency_country_mismatch: 'not in the required country' },
  keptFor: ({ residency }) => (residency?.country === undefined ? '' : `=${residency.country}`),
  refuse({ residency }, { name, labels, attested }) {
    if (residency?.country === undefined || isInCountry(residency, labels)) return undefined
    const { required, reported, fix } = saidFor(residency)
    return {
      filter: 'residency_country',
      code: 'residency_country_mismatch',
      required,
      reported: reported(labelOf(NODE_COUNTRY, labels)),
      fix: fix(attested.country)(name),
    }
  },
}

const saidFor = rememberedFor(({ country = '' }: DesiredResidency) => ({
  required: { [NODE_COUNTRY]: country },
  reported: rememberedBy((reported: string | undefined) => ({ [NODE_COUNTRY]: reported ?? null })),
  fix: rememberedBy((attested: string | undefined) =>
    fixOfLabel({ label: NODE_COUNTRY, value: country, attested }, 'placement.residency.country'),
  ),
}))
