// Deployments as rows: the name leads to the explanation.

import type { DeploymentSummary } from '@holdfast/contract'
import { useMemo } from 'react'
import { useSession } from '../../api/session.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { texts } from '../../texts/en.ts'

interface Props {
  readonly items: readonly DeploymentSummary[]
  readonly hasMore: boolean
  onEnd(): void
}

export function DeploymentTable(props: Props) {
  const { tenant } = useSession()
  const columns = useMemo(() => columnsOf(tenant), [tenant])
  return <VirtualTable columns={columns} keyOf={({ uid }) => uid} {...props} />
}

const columnsOf = (tenant: string): readonly Column<DeploymentSummary>[] => [
  {
    title: texts.deployments.name,
    width: '28%',
    narrow: 'start',
    cell: ({ name }) => (
      <PlainLink to="/t/$tenant/deployments/$name/why" params={{ tenant, name }} data-row>
        {name}
      </PlainLink>
    ),
  },
  {
    title: texts.deployments.phase,
    width: '26%',
    narrow: 'below',
    cell: ({ phase, reason }) => <PhaseBadge word={phase} {...(phase === 'Running' ? {} : { reason })} />,
  },
  {
    title: texts.deployments.ready,
    width: '92px',
    narrow: 'end',
    cell: ({ replicas }) => `${replicas.ready} / ${replicas.desired}`,
  },
  { title: texts.deployments.revision, width: '92px', narrow: 'hidden', cell: ({ revision }) => revision },
  {
    title: texts.deployments.nodes,
    narrow: 'hidden',
    cell: ({ nodes }) => nodes.join(', '),
    hint: ({ nodes }) => nodes.join(', '),
  },
  {
    title: texts.deployments.updated,
    width: '96px',
    narrow: 'below-end',
    cell: ({ updatedAt }) => <Moment iso={updatedAt} age />,
  },
]
