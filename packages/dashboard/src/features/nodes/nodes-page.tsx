// The nodes of the tenant, those in trouble first.

import type { NodeSummary } from '@holdfast/contract'
import { useMemo } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useNodes } from '../../api/use-nodes.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LinkButton } from '../../parts/forms/link-button.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatCpu } from '../../texts/format.ts'
import styles from './nodes-page.module.css'

export function NodesPage() {
  const { tenant } = useSession()
  const { items, error, hasMore, readMore } = useNodes()
  const columns = useMemo(() => columnsOf(tenant), [tenant])
  return (
    <div className={styles.page}>
      <PageHead
        title={texts.pages.nodes}
        aside={
          items === undefined ? null : (
            <span className={styles.count}>{texts.nodes.count(items.length, hasMore)}</span>
          )
        }
        actions={
          <LinkButton to="/t/$tenant/nodes/join" params={{ tenant }}>
            {texts.join.page}
          </LinkButton>
        }
      />
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {items === undefined && error === null ? <Loading lines={6} /> : null}
      {items?.length === 0 ? <NoNodes /> : null}
      {items === undefined || items.length === 0 ? null : (
        <VirtualTable
          columns={columns}
          items={items}
          keyOf={({ id }) => id}
          hasMore={hasMore}
          onEnd={readMore}
        />
      )}
      <CliFoot same={equivalents.nodes()} />
    </div>
  )
}

function NoNodes() {
  return (
    <Notice severity="info" title={texts.overview.noNodesTitle}>
      <p>{texts.overview.noNodesNext}</p>
      {texts.overview.nodeCommands.map((command) => (
        <code key={command}>{command}</code>
      ))}
    </Notice>
  )
}

/** The status, with its reason and whether the node is closed for new work. */
function State({ node: { status, reason, schedulable, draining } }: { readonly node: NodeSummary }) {
  const closed = draining === true ? texts.nodes.draining : schedulable ? undefined : texts.nodes.cordoned
  const reasons = [reason, closed].filter((each) => each !== undefined)
  return <PhaseBadge word={status} reason={reasons.join(', ')} />
}

const columnsOf = (tenant: string): readonly Column<NodeSummary>[] => [
  {
    title: texts.nodes.name,
    width: '20%',
    narrow: 'start',
    cell: ({ id, name }) => (
      <PlainLink to="/t/$tenant/nodes/$node" params={{ tenant, node: id }} data-row>
        {name}
      </PlainLink>
    ),
  },
  { title: texts.nodes.status, width: '22%', narrow: 'below', cell: (node) => <State node={node} /> },
  {
    title: texts.nodes.replicas,
    width: '92px',
    narrow: 'end',
    labelled: true,
    cell: ({ replicas }) => replicas,
  },
  {
    title: texts.nodes.cpu,
    narrow: 'hidden',
    cell: ({ requested, capacity }) =>
      texts.overview.used(formatCpu(requested.cpuMillis), formatCpu(capacity.cpuMillis)),
  },
  {
    title: texts.nodes.memory,
    narrow: 'hidden',
    cell: ({ requested, capacity }) =>
      texts.overview.used(formatBytes(requested.memoryBytes), formatBytes(capacity.memoryBytes)),
  },
  { title: texts.nodes.country, width: '92px', narrow: 'hidden', cell: ({ country }) => country ?? '' },
  {
    title: texts.nodes.since,
    width: '96px',
    narrow: 'below-end',
    labelled: true,
    cell: ({ since }) => <Moment iso={since} age />,
  },
]
