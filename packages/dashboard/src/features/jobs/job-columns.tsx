// The columns of the list of jobs.

import type { JobRecord } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'
import { formatDuration } from '../../texts/format.ts'

export const jobColumns = (tenant: string): readonly Column<JobRecord>[] => [
  {
    title: jobTexts.name,
    width: '26%',
    narrow: 'start',
    cell: ({ id, name }) => (
      <PlainLink to="/t/$tenant/jobs/$job" params={{ tenant, job: id }} data-row>
        {name}
      </PlainLink>
    ),
    hint: ({ id }) => id,
  },
  {
    title: jobTexts.phase,
    width: '24%',
    narrow: 'below',
    cell: ({ status: { phase, reason } }) => <PhaseBadge word={phase} reason={reason} />,
  },
  { title: jobTexts.node, narrow: 'end', cell: ({ status }) => status.nodeName ?? jobTexts.noNode },
  { title: jobTexts.exitCode, width: '96px', narrow: 'hidden', cell: ({ status }) => status.exitCode ?? '' },
  { title: jobTexts.attempts, width: '92px', narrow: 'hidden', cell: ({ status }) => status.attempts },
  { title: jobTexts.duration, width: '92px', narrow: 'hidden', cell: ranFor },
  {
    title: jobTexts.created,
    width: '92px',
    narrow: 'below-end',
    cell: ({ createdAt }) => <Moment iso={createdAt} age />,
  },
]

/** The length of the last attempt of a job that has ended. */
function ranFor({ status: { startedAt, finishedAt } }: JobRecord): string {
  if (startedAt === null || finishedAt === null) return ''
  return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
}
