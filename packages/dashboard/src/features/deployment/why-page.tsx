// Why a deployment is in its phase: the summary, the remedies, every node with every reason, and the same for the past.

import type { FailingContainer, Why } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useStatus } from '../../api/use-deployments.ts'
import { useDecisions, useWhy, type WhyFilter } from '../../api/use-why.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { CureList } from '../../parts/cure-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Matrix } from '../../parts/matrix.tsx'
import { rowOfCandidate, rowOfGroup } from '../../parts/matrix-rows.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Panel } from '../../parts/panel.tsx'
import { TimeTravel } from '../../parts/time-travel.tsx'
import { useNow } from '../../parts/use-now.ts'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import { wordsOf } from '../../texts/show-value.ts'
import { remediesOf } from './remedies-of.ts'
import { UncordonButton } from './uncordon-button.tsx'
import styles from './why-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/why')

export function WhyPage() {
  const { name } = route.useParams()
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { why, error, hasMore, readMore } = useWhy(name, filter)
  const { data: decisions = [] } = useDecisions(name)
  const { data: status } = useStatus(name)
  const choose = (next: WhyFilter): void => void navigate({ search: { ...filter, ...next } })
  return (
    <div className={styles.page} {...(filter.at === undefined ? {} : { 'data-past': true })}>
      {filter.at === undefined ? null : <PastNotice at={filter.at} onNow={() => choose({ at: undefined })} />}
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {why === undefined && error === null ? <Loading lines={6} /> : null}
      {why === undefined ? null : (
        <Explanation why={why} past={filter.at !== undefined} shown={status?.message} />
      )}
      {why === undefined || !(hasMore || filter.view === 'groups') ? null : (
        <More groups={filter.view === 'groups'} onMore={readMore} onView={(view) => choose({ view })} />
      )}
      <TimeTravel at={filter.at} decisions={decisions} onChoose={(at) => choose({ at })} />
      <CliFoot same={equivalents.why(name, filter.at)} />
    </div>
  )
}

function PastNotice({ at, onNow }: { readonly at: string; onNow(): void }) {
  const now = useNow()
  return (
    <Notice severity="info" title={texts.why.past(formatTime(at, now))}>
      <div>
        <Button variant="default" size="compact-sm" onClick={onNow}>
          {texts.why.now}
        </Button>
      </div>
    </Notice>
  )
}

interface ExplanationProps {
  readonly why: Why
  readonly past: boolean
  /** The sentence above the tabs, which is not repeated. */
  readonly shown: string | undefined
}

function Explanation({ why, past, shown }: ExplanationProps) {
  const rows =
    why.groups === undefined
      ? why.candidates.map(rowOfCandidate)
      : why.groups.map((group) => rowOfGroup(group, texts.why.group(group.count)))
  const remedies = remediesOf(why).map(({ uncordon, ...remedy }) =>
    uncordon === undefined || past ? remedy : { ...remedy, act: <UncordonButton node={uncordon} /> },
  )
  return (
    <>
      <p className={styles.summary}>
        {why.summary === shown && !past ? null : <strong>{why.summary} </strong>}
        {why.decidedAt === null ? null : (
          <span className={styles.muted}>
            {texts.why.decided} <Moment iso={why.decidedAt} />
          </span>
        )}
      </p>
      {why.containers === undefined ? null : <Failing containers={why.containers} />}
      {rows.length === 0 && remedies.length === 0 ? null : <CureList remedies={remedies} />}
      {rows.length === 0 ? null : <Matrix rows={rows} />}
    </>
  )
}

/** Containers that fail although their replica has a node. */
function Failing({ containers }: { readonly containers: readonly FailingContainer[] }) {
  return (
    <Panel title={texts.why.failing}>
      {containers.map((container) => (
        <div key={`${container.replica}-${container.nodeId}`} className={styles.container}>
          <p>
            <strong>{texts.why.failingAt(container.replica, container.nodeName)}</strong>
            {container.reason === '' ? null : ` ${wordsOf(container.reason)}`}
          </p>
          {container.cause === '' ? null : <pre className={styles.cause}>{container.cause}</pre>}
          <p className={styles.muted}>{factsOf(container).join(', ')}</p>
        </div>
      ))}
    </Panel>
  )
}

function factsOf({ restarts, failedChecks, lastExit }: FailingContainer): string[] {
  return [
    texts.why.restarts(restarts),
    ...(failedChecks === undefined ? [] : [texts.why.checks(failedChecks)]),
    ...(lastExit === undefined ? [] : [texts.why.exit(lastExit.code)]),
  ]
}

interface MoreProps {
  readonly groups: boolean
  onMore(): void
  onView(view: 'groups' | undefined): void
}

/** With many nodes, groups of equal reasons are easier to read than pages of nodes. */
function More({ groups, onMore, onView }: MoreProps) {
  return (
    <div className={styles.more}>
      {groups ? null : (
        <Button variant="default" size="compact-sm" onClick={onMore}>
          {texts.why.more}
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={() => onView(groups ? undefined : 'groups')}>
        {groups ? texts.why.byNode : texts.why.byGroup}
      </Button>
    </div>
  )
}
