// The columns of the residency report.

import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { residencyTexts } from '../../texts/en/residency.ts'
import type { ResidencyRow } from './residency-rows.ts'

export const residencyColumns = (tenant: string): readonly Column<ResidencyRow>[] => [
  {
    title: residencyTexts.deployment,
    width: '18%',
    narrow: 'start',
    cell: ({ name }) => (
      <PlainLink to="/t/$tenant/deployments/$name/why" params={{ tenant, name }} data-row>
        {name}
      </PlainLink>
    ),
  },
  {
    title: residencyTexts.data,
    width: '18%',
    narrow: 'below',
    cell: ({ data }) => data,
    hint: ({ data }) => data,
  },
  {
    title: residencyTexts.demand,
    narrow: 'hidden',
    cell: ({ demand }) => demand,
    hint: ({ demand }) => demand,
  },
  { title: residencyTexts.node, width: '14%', narrow: 'hidden', cell: ({ node }) => node },
  {
    title: residencyTexts.place,
    width: '12%',
    narrow: 'below-end',
    cell: placeOf,
    hint: placeOf,
  },
  {
    title: residencyTexts.attested,
    width: '96px',
    narrow: 'hidden',
    cell: ({ attested }) => (attested === undefined ? '' : attested ? residencyTexts.yes : residencyTexts.no),
  },
  {
    title: residencyTexts.meets,
    width: '92px',
    narrow: 'end',
    cell: ({ holds }) => (
      <PhaseBadge
        word={holds ? 'ready' : 'failed'}
        label={holds ? residencyTexts.met : residencyTexts.violated}
      />
    ),
  },
]

/** Country and region, and the warning that nothing confirms them, which a phone shows nowhere else. */
function placeOf({ node, country, region, attested }: ResidencyRow): string {
  if (node === '') return ''
  const words = [country === '' ? residencyTexts.unstated : country, region]
  return [...words, attested === false ? residencyTexts.unattested : '']
    .filter((word) => word !== '')
    .join(', ')
}
