// The frame of one deployment: its state with the reason, and its pages as tabs.

import type { StatusWithTimeline } from '@holdfast/contract'
import { getRouteApi, Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useRevision, useStatus } from '../../api/use-deployments.ts'
import { useDecisions } from '../../api/use-why.ts'
import { Failed } from '../../parts/failed.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { decisionAt } from '../../parts/time/stops.ts'
import { TimeBar } from '../../parts/time/time-bar.tsx'
import { useNow } from '../../parts/use-now.ts'
import { timeTexts } from '../../texts/en/time.ts'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import { CanaryNotice } from './canary-notice.tsx'
import styles from './deployment-frame.module.css'
import { FailedRevision } from './failed-revision.tsx'

const route = getRouteApi('/t/$tenant/deployments/$name')

/** Pages with `past` can show the deployment as it was; the others show the present only. */
const TABS = [
  { to: '/t/$tenant/deployments/$name/why', label: texts.pages.why, past: true },
  { to: '/t/$tenant/deployments/$name/replicas', label: texts.pages.replicas, past: false },
  { to: '/t/$tenant/deployments/$name/logs', label: texts.pages.logs, past: false },
  { to: '/t/$tenant/deployments/$name/terminal', label: texts.pages.terminal, past: false },
  { to: '/t/$tenant/deployments/$name/history', label: texts.pages.history, past: true },
  { to: '/t/$tenant/deployments/$name/rotation', label: texts.secrets.rotationTab, past: false },
  { to: '/t/$tenant/deployments/$name/events', label: texts.pages.events, past: true },
  { to: '/t/$tenant/deployments/$name/scaling', label: texts.scaling.title, past: false },
  { to: '/t/$tenant/deployments/$name/settings', label: texts.editor.title, past: false },
] as const

const lastPart = (path: string): string => path.split('/').at(-1) ?? ''
const hasPast = (path: string): boolean =>
  TABS.some(({ to, past }) => past && lastPart(to) === lastPart(path))

export function DeploymentFrame() {
  const { name } = route.useParams()
  const search = route.useSearch()
  const travels = hasPast(useLocation().pathname)
  const at = travels ? search.at : undefined
  const { data: status, error, refetch } = useStatus(name)
  if (error !== null && isNotFound(error)) return <Unknown name={name} />
  const state = status === undefined ? null : <State name={name} status={status} />
  return (
    <div className={styles.page} {...(at === undefined ? {} : { 'data-past': true })}>
      <PageHead
        title={name}
        aside={at === undefined ? state : <PastState name={name} at={at} />}
        actions={at === undefined ? <Actions name={name} /> : null}
      />
      {status === undefined || at !== undefined ? null : <Message name={name} status={status} />}
      {at === undefined ? <CanaryNotice name={name} /> : null}
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      <Tabs name={name} at={at} />
      {travels ? <Travel key={name} name={name} at={at} /> : null}
      <Outlet />
    </div>
  )
}

function Travel({ name, at }: { readonly name: string; readonly at: string | undefined }) {
  const navigate = useNavigate()
  const { data: decisions = [] } = useDecisions(name)
  const choose = (next: string | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, at: next }), replace: at !== undefined })
  return <TimeBar at={at} decisions={decisions} onChoose={choose} />
}

/** The phase and revision at a time of the past. */
function PastState({ name, at }: { readonly name: string; readonly at: string }) {
  const now = useNow()
  const { data: decisions } = useDecisions(name)
  const decision = decisions === undefined ? undefined : decisionAt(decisions, at)
  return (
    <span className={styles.state}>
      {decision === undefined ? null : (
        <>
          <PhaseBadge word={decision.phase} reason={decision.reason} />
          <span>{texts.deployment.revision(decision.revision)}</span>
        </>
      )}
      {decisions !== undefined && decision === undefined ? <span>{timeTexts.noDecision}</span> : null}
      <strong role="status">{timeTexts.past(formatTime(at, now))}</strong>
    </span>
  )
}

const ACTS = [
  { act: 'scale', label: texts.change.scaleAct },
  { act: 'restart', label: texts.change.restartAct },
] as const

/** Each leads to its plan. Delete is not among them; it is on the page of the settings. */
function Actions({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return (
    <>
      <Link to="/t/$tenant/deployments/$name/settings" params={{ tenant, name }} className={styles.act}>
        {texts.change.edit}
      </Link>
      {ACTS.map(({ act, label }) => (
        <Link
          key={act}
          to="/t/$tenant/deployments/$name/change"
          params={{ tenant, name }}
          search={{ act }}
          className={styles.act}
        >
          {label}
        </Link>
      ))}
    </>
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
function Message({ name, status }: { readonly name: string; readonly status: StatusWithTimeline }) {
  const { message, failure } = status
  return (
    <>
      {message === '' ? null : <p className={styles.message}>{message}</p>}
      {failure === undefined ? null : <FailedRevision name={name} failure={failure} />}
    </>
  )
}

function Tabs({ name, at }: { readonly name: string; readonly at: string | undefined }) {
  const { tenant } = useSession()
  return (
    <nav className={styles.tabs} aria-label={name}>
      {TABS.map(({ to, label, past }) => (
        <Link
          key={to}
          to={to}
          params={{ tenant, name }}
          search={past && at !== undefined ? { at } : {}}
          className={styles.tab}
          {...(past || at === undefined ? {} : { title: timeTexts.onlyNow(label) })}
        >
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
