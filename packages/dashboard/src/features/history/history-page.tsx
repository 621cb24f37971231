// The stored revisions of a deployment, newest first: who stored each, when, and which fields it changed; any two can be
// compared, and each leads to the plan that returns to it.

import type { ArchiveEntry } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useRevisions, useStatus } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { changedFields } from '../../parts/plan/changed-fields.ts'
import { specJson } from '../../parts/plan/conflict.tsx'
import { FieldChanges } from '../../parts/plan/field-changes.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { Compare } from './compare.tsx'
import styles from './history-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/history')

export function HistoryPage() {
  const { name } = route.useParams()
  const { at, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: all, error } = useRevisions(name)
  const data =
    at === undefined ? all : all?.filter(({ createdAt }) => Date.parse(createdAt) <= Date.parse(at))
  const { data: status } = useStatus(name)
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
        <Panel title={texts.history.title} aside={texts.history.note}>
          {data.length === 0 ? <p className={styles.muted}>{texts.time.noRevisions}</p> : null}
          <ol>
            {data.map((entry, index) => (
              <Revision
                key={entry.revision}
                entry={entry}
                before={data[index + 1]}
                latest={index === 0}
                running={at === undefined && entry.revision === status?.runningRevision}
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

interface RevisionProps {
  readonly entry: ArchiveEntry
  /** The revision before; undefined for the oldest one that is kept. */
  readonly before: ArchiveEntry | undefined
  readonly latest: boolean
  readonly running: boolean
  /** True if the page shows the past, in which nothing can be changed. */
  readonly past: boolean
}

function Revision({ entry, before, latest, running, past }: RevisionProps) {
  const { name, revision, createdAt, authorName, author } = entry
  return (
    <li className={styles.revision}>
      <p className={styles.head}>
        <strong>{texts.deployment.revision(revision)}</strong>
        {latest ? <span className={styles.mark}>{texts.history.latest}</span> : null}
        {running ? <span className={styles.mark}>{texts.history.running}</span> : null}
        <Moment iso={createdAt} />
        <span>{authorName ?? author}</span>
      </p>
      {before === undefined ? (
        <p className={styles.muted}>{texts.history.oldest}</p>
      ) : (
        <Changes before={before} after={entry} />
      )}
      {latest || past ? null : <RollBack name={name} revision={revision} />}
    </li>
  )
}

function Changes({ before, after }: { readonly before: ArchiveEntry; readonly after: ArchiveEntry }) {
  const changes = changedFields(specJson(before), specJson(after))
  return changes.length === 0 ? (
    <p className={styles.muted}>{texts.history.unchanged}</p>
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
        {texts.history.rollBack(revision)}
      </Link>
    </p>
  )
}
