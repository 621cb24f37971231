// The columns of the list of backups.

import type { Backup } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import { formatBytes } from '../../texts/format.ts'

export const backupColumns = (tenant: string): readonly Column<Backup>[] => [
  {
    title: backupTexts.deployment,
    width: '30%',
    narrow: 'start',
    cell: ({ id, deploymentName }) => (
      <PlainLink to="/t/$tenant/backups/$backup" params={{ tenant, backup: id }} data-row>
        {deploymentName}
      </PlainLink>
    ),
    hint: ({ id }) => id,
  },
  { title: backupTexts.revision, narrow: 'end', cell: ({ deploymentRevision }) => deploymentRevision },
  { title: backupTexts.revisions, narrow: 'hidden', cell: ({ revisionCount }) => revisionCount },
  { title: backupTexts.size, narrow: 'below', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
  {
    title: backupTexts.created,
    narrow: 'below-end',
    cell: ({ createdAt }) => <Moment iso={createdAt} />,
  },
]
