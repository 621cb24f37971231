// The frame of one deployment: its state with the reason, and its pages as tabs.

import type { StatusWithTimeline } from '@holdfast/contract'
import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useRevision, useStatus } from '../../api/use-deployments.ts'
import { Failed } from '../../parts/failed.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import styles from './deployment-frame.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name')

const TABS = [
  { to: '/t/$tenant/deployments/$name/why', label: texts.pages.why },
  { to: '/t/$tenant/deployments/$name/replicas', label: texts.pages.replicas },
  { to: '/t/$tenant/deployments/$name/logs', label: texts.pages.logs },
  { to: '/t/$tenant/deployments/$name/terminal', label: texts.pages.terminal },
  { to: '/t/$tenant/deployments/$name/history', label: texts.pages.history },
  { to: '/t/$tenant/deployments/$name/events', label: texts.pages.events },
] as const

export function DeploymentFrame() {
  const { name } = route.useParams()
  const { data: status, error, refetch } = useStatus(name)
  if (error !== null && isNotFound(error)) return <Unknown name={name} />
  return (
    <div className={styles.page}>
      <PageHead title={name} aside={status === undefined ? null : <State name={name} status={status} />} />
      {status === undefined ? null : <Message status={status} />}
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      <Tabs name={name} />
      <Outlet />
    </div>
  )
}

function State({ name, status }: { readonly name: string; readonly status: StatusWithTimeline }) {
  const revision = useRevision(name)
  const { phase, reason, replicas, runningRevision } = status
  const older = runningRevision !== null && revision !== undefined && runningRevision !== revision
  return (
    <span className={styles.state}>
      <PhaseBadge word={phase} {...(phase === 'Running' ? {} : { reason })} />
      <span>{texts.deployment.ready(replicas.ready, replicas.desired)}</span>
      {revision === undefined ? null : <span>{texts.deployment.revision(revision)}</span>}
      {older ? <span>{texts.deployment.runningRevision(runningRevision)}</span> : null}
    </span>
  )
}

/** The sentence of the server, and why the last revision failed. */
function Message({ status: { message, failure } }: { readonly status: StatusWithTimeline }) {
  return (
    <>
      {message === '' ? null : <p className={styles.message}>{message}</p>}
      {failure === undefined ? null : (
        <Notice severity="error" title={texts.deployment.failure(failure.revision)}>
          <p>{failure.cause ?? failure.reason}</p>
        </Notice>
      )}
    </>
  )
}

function Tabs({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return (
    <nav className={styles.tabs} aria-label={name}>
      {TABS.map(({ to, label }) => (
        <Link key={to} to={to} params={{ tenant, name }} search={{}} className={styles.tab}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

function Unknown({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(texts.deployment.unknown(name))} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/deployments" params={{ tenant }} search={{}}>
          {texts.deployment.all}
        </Link>
      </p>
    </div>
  )
}
