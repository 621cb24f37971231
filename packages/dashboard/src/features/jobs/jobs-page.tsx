// The jobs of the tenant, the newest first.

import { JOB_PHASES, type JobRecord } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useJobs } from '../../api/resources/use-jobs.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ListPage, ListTools, Teaching } from '../../parts/resource/list-page.tsx'
import { matchingNames } from '../../parts/resource/matching-names.ts'
import { RecordList } from '../../parts/resource/record-list.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'
import { resourceTexts } from '../../texts/en/resources.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { jobColumns } from './job-columns.tsx'
import { RunJob } from './run-job.tsx'

const route = getRouteApi('/t/$tenant/jobs')

interface Filter {
  readonly q?: string | undefined
  readonly phase?: string | undefined
}

export function JobsPage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { tenant } = useSession()
  const { items, error, hasMore, readMore } = useJobs()
  const { closed } = useWrite('jobs:write', useStale())
  const [running, setRunning] = useState(false)
  const columns = useMemo(() => jobColumns(tenant), [tenant])
  const change = (next: Filter): void => void navigate({ search: withoutEmpty(next), replace: true })
  return (
    <ListPage
      title={jobTexts.title}
      count={items === undefined ? undefined : jobTexts.count(items.length, hasMore)}
      actions={
        <ActButton label={jobTexts.run} closed={closed} running={false} onAct={() => setRunning(true)} />
      }
      same={resourceEquivalents.jobs()}
    >
      {items === undefined || items.length === 0 ? null : (
        <ListTools q={filter.q} filters outcome={{ kind: 'idle' }} onChange={(q) => change({ ...filter, q })}>
          <Phases chosen={filter.phase} onChange={(phase) => change({ ...filter, phase })} />
        </ListTools>
      )}
      <RecordList
        columns={columns}
        items={items === undefined ? undefined : shownJobs(items, filter)}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        keyOf={({ id }) => id}
        onEnd={readMore}
        unmatched={items?.length === 0 ? undefined : resourceTexts.noMatch}
        empty={
          <Teaching title={jobTexts.emptyTitle} next={jobTexts.emptyNext} command={jobTexts.emptyCommand} />
        }
      />
      {running ? <RunJob onClose={() => setRunning(false)} /> : null}
    </ListPage>
  )
}

const withoutEmpty = ({ q, phase }: Filter): Filter => ({
  ...(q === undefined ? {} : { q }),
  ...(phase === undefined ? {} : { phase }),
})

/** The server sends jobs in the order of their creation. */
const shownJobs = (items: readonly JobRecord[], { q, phase }: Filter): readonly JobRecord[] =>
  matchingNames(items, q)
    .filter(({ status }) => phase === undefined || status.phase === phase)
    .toReversed()

interface PhasesProps {
  readonly chosen: string | undefined
  onChange(phase: string | undefined): void
}

function Phases({ chosen, onChange }: PhasesProps) {
  return [undefined, ...JOB_PHASES].map((phase) => (
    <Button
      key={phase ?? ''}
      variant={phase === chosen ? 'light' : 'default'}
      size="compact-sm"
      aria-pressed={phase === chosen}
      onClick={() => onChange(phase)}
    >
      {phase ?? jobTexts.allPhases}
    </Button>
  ))
}
