// The stored revisions of a deployment, newest first: who stored each, when, and which fields it changed; any two can be
// compared, and each leads to the plan that returns to it.

import type { ArchiveEntry } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useRevisions, useStatus } from '../../api/use-deployments.ts'
import { useDecisions } from '../../api/use-why.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { revisionChanges } from '../../parts/plan/changed-fields.ts'
import { FieldChanges } from '../../parts/plan/field-changes.tsx'
import { tokenText } from '../../texts/author.ts'
import { equivalents } from '../../texts/commands.ts'
import { historyTexts } from '../../texts/en/history.ts'
import { timeTexts } from '../../texts/en/time.ts'
import { texts } from '../../texts/en.ts'
import { Compare } from './compare.tsx'
import styles from './history-page.module.css'
import { marksOf, type RevisionMark } from './revision-marks.ts'

const route = getRouteApi('/t/$tenant/deployments/$name/history')

export function HistoryPage() {
  const { name } = route.useParams()
  const { at, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: all, error } = useRevisions(name)
  const data =
    at === undefined ? all : all?.filter(({ createdAt }) => Date.parse(createdAt) <= Date.parse(at))
  const { data: status } = useStatus(name)
  const { data: decisions = [] } = useDecisions(name)
  // The status is that of now; of the past, the decisions up to that time are known.
  const known =
    at === undefined
      ? { status, decisions }
      : { decisions: decisions.filter((decision) => Date.parse(decision.at) <= Date.parse(at)) }
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data === undefined || data.length < 2 ? null : (
        <Compare
          entries={data}
          pair={search}
          onChoose={(pair) => void navigate({ search: (before) => ({ ...before, ...pair }), replace: true })}
        />
      )}
      {data === undefined ? null : (
        <Panel title={historyTexts.title} aside={historyTexts.note}>
          {data.length === 0 ? <p className={styles.muted}>{timeTexts.noRevisions}</p> : null}
          <ol>
            {data.map((entry, index) => (
              <Revision
                key={entry.revision}
                entry={entry}
                before={data[index + 1]}
                marks={marksOf(entry.revision, { ...known, latest: data[0]?.revision })}
                past={at !== undefined}
              />
            ))}
          </ol>
        </Panel>
      )}
      <CliFoot same={equivalents.history(name)} />
    </>
  )
}

/** The word of state whose shape a mark has. */
const TONES: { readonly [mark in RevisionMark]: string } = {
  latest: 'info',
  running: 'Running',
  lastGood: 'Ready',
  failed: 'Failed',
}

interface RevisionProps {
  readonly entry: ArchiveEntry
  /** The revision before; undefined for the oldest one that is kept. */
  readonly before: ArchiveEntry | undefined
  readonly marks: readonly RevisionMark[]
  /** True if the page shows the past, in which nothing can be changed. */
  readonly past: boolean
}

function Revision({ entry, before, marks, past }: RevisionProps) {
  const { name, revision, createdAt, authorName, author } = entry
  return (
    <li className={styles.revision}>
      <p className={styles.head}>
        <strong>{texts.deployment.revision(revision)}</strong>
        {marks.map((mark) => (
          <span key={mark} className={styles.mark} title={historyTexts.markHints[mark]}>
            <PhaseBadge word={TONES[mark]} label={historyTexts.marks[mark]} />
          </span>
        ))}
        <Moment iso={createdAt} />
        <span>{tokenText(authorName, author)}</span>
      </p>
      {before === undefined ? (
        <p className={styles.muted}>{historyTexts.oldest}</p>
      ) : (
        <Changes before={before} after={entry} />
      )}
      {marks.includes('latest') || past ? null : <RollBack name={name} revision={revision} />}
    </li>
  )
}

function Changes({ before, after }: { readonly before: ArchiveEntry; readonly after: ArchiveEntry }) {
  const changes = revisionChanges(before, after)
  return changes.length === 0 ? (
    <p className={styles.muted}>{historyTexts.unchanged}</p>
  ) : (
    <FieldChanges changes={changes} />
  )
}

/** Leads to the plan of the return; nothing changes before the plan was read. */
function RollBack({ name, revision }: { readonly name: string; readonly revision: number }) {
  const { tenant } = useSession()
  return (
    <p>
      <Link
        to="/t/$tenant/deployments/$name/change"
        params={{ tenant, name }}
        search={{ act: 'rollback', revision }}
        data-row
      >
        {historyTexts.rollBack(revision)}
      </Link>
    </p>
  )
}
