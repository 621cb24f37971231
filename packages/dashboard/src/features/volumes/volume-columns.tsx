// The columns of the list of volumes.

import type { Volume } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatBytes } from '../../texts/format.ts'

export const volumeColumns = (tenant: string): readonly Column<Volume>[] => [
  {
    title: volumeTexts.name,
    width: '22%',
    narrow: 'start',
    cell: ({ id, name }) => (
      <PlainLink to="/t/$tenant/volumes/$volume" params={{ tenant, volume: id }} data-row>
        {name}
      </PlainLink>
    ),
  },
  {
    title: volumeTexts.phase,
    width: '20%',
    narrow: 'below',
    cell: ({ phase, reason }) => <PhaseBadge word={phase} {...(reason === null ? {} : { reason })} />,
  },
  {
    title: volumeTexts.used,
    narrow: 'end',
    cell: ({ usedBytes, sizeBytes }) =>
      usedBytes === null
        ? formatBytes(sizeBytes)
        : volumeTexts.usedOf(formatBytes(usedBytes), formatBytes(sizeBytes)),
  },
  {
    title: volumeTexts.primary,
    narrow: 'below-end',
    cell: ({ primary }) => primary?.nodeName ?? volumeTexts.noPrimary,
  },
  { title: volumeTexts.copies, width: '84px', narrow: 'hidden', cell: ({ copies }) => copies.length },
  {
    title: volumeTexts.users,
    narrow: 'hidden',
    cell: ({ consumers }) => (consumers.length === 0 ? volumeTexts.noUser : consumers.join(', ')),
    hint: ({ consumers }) => consumers.join(', '),
  },
  {
    title: volumeTexts.age,
    width: '84px',
    narrow: 'hidden',
    cell: ({ createdAt }) => <Moment iso={createdAt} age />,
  },
]
