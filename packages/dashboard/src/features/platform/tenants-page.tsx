// All tenants, those in trouble first, and a new one.

import type { TenantSummary } from '@holdfast/contract'
import { TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useWorstTenants } from '../../api/platform/use-platform.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { platformEquivalents } from '../../texts/commands/platform.ts'
import { texts } from '../../texts/en.ts'
import { CreateTenant } from './create-tenant.tsx'
import styles from './platform-page.module.css'
import { TenantHealth } from './tenant-health.tsx'

const route = getRouteApi('/platform/tenants')
const words = texts.platform.tenant

export function TenantsPage() {
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const { items, error, hasMore, readMore } = useWorstTenants(q)
  return (
    <div className={styles.page}>
      <PageHead
        title={texts.platform.tenants}
        aside={
          items === undefined ? null : (
            <span className={styles.muted}>{words.count(items.length, hasMore)}</span>
          )
        }
      />
      <TextInput
        label={words.filter}
        value={q}
        data-filter
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: value === '' ? {} : { q: value }, replace: true })
        }
      />
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {items === undefined && error === null ? <Loading lines={6} /> : null}
      {items?.length === 0 ? <p className={styles.muted}>{words.none}</p> : null}
      {items === undefined || items.length === 0 ? null : (
        <VirtualTable
          columns={COLUMNS}
          items={items}
          keyOf={({ id }) => id}
          hasMore={hasMore}
          onEnd={readMore}
        />
      )}
      <CreateTenant />
      <CliFoot same={platformEquivalents.tenants()} />
    </div>
  )
}

const countsText = (counts: { readonly [word: string]: number }): string =>
  Object.entries(counts)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ')

const COLUMNS: readonly Column<TenantSummary>[] = [
  {
    title: words.name,
    width: '20%',
    narrow: 'start',
    cell: ({ id, name }) => (
      <PlainLink to="/platform/tenants/$id" params={{ id }} data-row>
        {name}
      </PlainLink>
    ),
    hint: ({ name }) => name,
  },
  { title: words.needs, width: '26%', narrow: 'below', cell: (tenant) => <TenantHealth tenant={tenant} /> },
  {
    title: words.deployments,
    narrow: 'hidden',
    cell: ({ deployments: { total, counts } }) => (total === 0 ? '0' : countsText(counts)),
    hint: ({ deployments: { counts } }) => countsText(counts),
  },
  {
    title: words.nodes,
    narrow: 'end',
    cell: ({ nodes: { total, counts } }) => (total === 0 ? '0' : countsText(counts)),
    hint: ({ nodes: { counts } }) => countsText(counts),
  },
  {
    title: words.quotas,
    narrow: 'hidden',
    cell: ({ quotasReached }) => quotasReached.join(', '),
    hint: ({ quotasReached }) => quotasReached.join(', '),
  },
  {
    title: words.created,
    width: '96px',
    narrow: 'below-end',
    cell: ({ createdAt }) => <Moment iso={createdAt} age />,
  },
]
