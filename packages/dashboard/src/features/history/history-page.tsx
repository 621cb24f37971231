// The stored revisions of a deployment, newest first: who stored each, when, and which fields it changed.

import type { ArchiveEntry, Json } from '@holdfast/contract'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useRevisions, useStatus } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { showValue } from '../../texts/show-value.ts'
import { type ChangedField, changedFields } from './changed-fields.ts'
import styles from './history-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/history')

export function HistoryPage() {
  const { name } = route.useParams()
  const { at } = route.useSearch()
  const { data: all, error } = useRevisions(name)
  const data =
    at === undefined ? all : all?.filter(({ createdAt }) => Date.parse(createdAt) <= Date.parse(at))
  const { data: status } = useStatus(name)
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data === undefined ? null : (
        <Panel title={texts.history.title} aside={texts.history.note}>
          {data.length === 0 ? <p className={styles.muted}>{texts.time.noRevisions}</p> : null}
          <ol>
            {data.map((entry, at) => (
              <Revision
                key={entry.revision}
                entry={entry}
                before={data[at + 1]}
                latest={at === 0}
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
  const { name, revision, createdAt, authorName, author, spec } = entry
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
        <Changes changes={changedFields(asJson(before.spec), asJson(spec))} />
      )}
      {latest || past ? null : <Return command={equivalents.rollBack(name, revision).command} />}
    </li>
  )
}

/** The stored spec as plain JSON, in which members that are not given are absent. */
const asJson = (spec: ArchiveEntry['spec']): Json => JSON.parse(JSON.stringify(spec))

function Changes({ changes }: { readonly changes: readonly ChangedField[] }) {
  if (changes.length === 0) return <p className={styles.muted}>{texts.history.unchanged}</p>
  return (
    <ul className={styles.changes}>
      {changes.map(({ field, from, to }) => (
        <li key={field}>
          <code>{field}</code> {texts.history.change(showSide(from), showSide(to))}
        </li>
      ))}
    </ul>
  )
}

const showSide = (value: Json | undefined): string =>
  value === undefined ? texts.history.absent : showValue(value)

/** The command that stores this revision again as the newest one. */
function Return({ command }: { readonly command: string }) {
  return (
    <p className={styles.return}>
      <code>{command}</code> <CopyButton text={command} />
    </p>
  )
}
