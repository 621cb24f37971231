// The server replicas: which are alive, and which lead how many shards.

import type { Platform } from '@holdfast/contract'
import { explainFailure } from '../../api/failure.ts'
import { usePlatform } from '../../api/platform/use-platform.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { platformEquivalents } from '../../texts/commands/platform.ts'
import { texts } from '../../texts/en.ts'
import styles from './platform-page.module.css'

type Server = Platform['servers'][number]
const words = texts.platform.server

export function ServersPage() {
  const { data, error } = usePlatform()
  return (
    <div className={styles.page}>
      <PageHead title={texts.platform.servers} />
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={4} /> : null}
      {data === undefined ? null : (
        <VirtualTable
          columns={COLUMNS}
          items={data.servers}
          keyOf={({ id }) => id}
          hasMore={false}
          onEnd={() => {}}
        />
      )}
      {data === undefined ? null : (
        <p className={styles.muted}>
          {data.answeredBy} {words.answered}.
        </p>
      )}
      <CliFoot same={platformEquivalents.platform()} />
    </div>
  )
}

const COLUMNS: readonly Column<Server>[] = [
  { title: words.id, width: '34%', narrow: 'start', cell: ({ id }) => id, hint: ({ id }) => id },
  {
    title: words.state,
    narrow: 'below',
    cell: ({ alive }) => (
      <PhaseBadge
        word={alive ? 'ready' : 'failed'}
        label={alive ? texts.platform.words.alive : texts.platform.words.dead}
      />
    ),
  },
  { title: words.shards, width: '84px', narrow: 'end', cell: ({ shards }) => shards },
  {
    title: words.leads,
    width: '96px',
    narrow: 'hidden',
    cell: ({ leads }) => (leads ? words.yes : words.no),
  },
  { title: words.version, narrow: 'hidden', cell: ({ version = '' }) => version },
  { title: words.node, narrow: 'hidden', cell: ({ node }) => node ?? '' },
  {
    title: words.started,
    width: '110px',
    narrow: 'below-end',
    cell: ({ startedAt }) => <Moment iso={startedAt} age />,
  },
]
