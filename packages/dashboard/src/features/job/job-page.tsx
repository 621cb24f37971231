// One job: its phase with the reason, its attempts, its log, and the way to cancel it.

import { isFinalPhase, type JobRecord } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useJob, useJobEvents } from '../../api/resources/use-jobs.ts'
import { useSession } from '../../api/session.tsx'
import { ActOutcome, type Outcome } from '../../parts/act-outcome.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'
import { texts } from '../../texts/en.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { CancelJob } from './cancel-job.tsx'
import { JobFacts } from './job-facts.tsx'
import { JobLog } from './job-log.tsx'
import styles from './job-page.module.css'
import { JobWhy } from './job-why.tsx'

const route = getRouteApi('/t/$tenant/jobs/$job')

/** Another job has another page: nothing of the one before may stay. */
export function JobPage() {
  const { job } = route.useParams()
  return <JobOf key={job} id={job} />
}

function JobOf({ id }: { readonly id: string }) {
  const { data: job, error, refetch } = useJob(id)
  if (error !== null && isNotFound(error)) return <Unknown />
  if (job !== undefined) return <Content job={job} />
  return (
    <div className={styles.page}>
      <PageHead title={texts.pages.jobs} />
      {error === null ? (
        <Loading lines={6} />
      ) : (
        <Failed {...explainFailure(error)} onRetry={() => void refetch()} />
      )}
    </div>
  )
}

function Content({ job }: { readonly job: JobRecord }) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const { phase, reason, message } = job.status
  const ended = isFinalPhase(phase)
  return (
    <div className={styles.page}>
      <PageHead
        title={job.name}
        aside={<PhaseBadge word={phase} reason={reason} />}
        actions={ended ? null : <CancelJob job={job} onDone={(text) => setOutcome({ kind: 'done', text })} />}
      />
      <ActOutcome outcome={outcome} />
      <p>{message}</p>
      {reason === 'unschedulable' ? <JobWhy id={job.id} /> : null}
      <JobFacts job={job} />
      <Events job={job} />
      <JobLog id={job.id} ended={ended} />
      <CliFoot same={resourceEquivalents.job(job.id)} />
    </div>
  )
}

function Events({ job }: { readonly job: JobRecord }) {
  const { data, error } = useJobEvents(job)
  return (
    <Panel title={jobTexts.events} aside={jobTexts.eventsNote}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <EventList events={data} none={jobTexts.noEvents} ofOne />}
    </Panel>
  )
}

function Unknown() {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(jobTexts.unknown)} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/jobs" params={{ tenant }} search={{}}>
          {jobTexts.all}
        </Link>
      </p>
    </div>
  )
}
