// A revision that failed: why, what it changed and who stored it, and the way back to the revision before.

import type { ArchiveEntry, StatusWithTimeline } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { useRevisions } from '../../api/use-deployments.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { revisionChanges } from '../../parts/plan/changed-fields.ts'
import { FieldChanges } from '../../parts/plan/field-changes.tsx'
import { tokenText } from '../../texts/author.ts'
import { failedRevisionTexts as words } from '../../texts/en/failed-revision.ts'
import { historyTexts } from '../../texts/en/history.ts'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './deployment-frame.module.css'

interface Props {
  readonly name: string
  readonly failure: NonNullable<StatusWithTimeline['failure']>
}

export function FailedRevision({ name, failure }: Props) {
  const { data: revisions = [] } = useRevisions(name)
  const at = revisions.findIndex(({ revision }) => revision === failure.revision)
  const failed = revisions[at]
  const before = at === -1 ? undefined : revisions[at + 1]
  return (
    <Notice severity="error" title={texts.deployment.failure(failure.revision)}>
      <p>{failure.cause ?? texts.deployment.failedFor(wordsOf(failure.reason))}</p>
      {failed === undefined || before === undefined ? null : <Change before={before} after={failed} />}
      <Ways name={name} back={at === 0 ? before?.revision : undefined} />
    </Notice>
  )
}

function Change({ before, after }: { readonly before: ArchiveEntry; readonly after: ArchiveEntry }) {
  const changes = revisionChanges(before, after)
  if (changes.length === 0) return null
  return (
    <>
      <p>
        {words.stored} <Moment iso={after.createdAt} />{' '}
        {words.changed(tokenText(after.authorName, after.author))}
      </p>
      <FieldChanges changes={changes} />
    </>
  )
}

/** `back`: the revision to return to; undefined if a newer one is stored already. */
function Ways({ name, back }: { readonly name: string; readonly back: number | undefined }) {
  const { tenant } = useSession()
  return (
    <p className={styles.ways}>
      {back === undefined ? null : (
        <Link
          to="/t/$tenant/deployments/$name/change"
          params={{ tenant, name }}
          search={{ act: 'rollback', revision: back }}
          className={styles.act}
        >
          {historyTexts.rollBack(back)}
        </Link>
      )}
      <Link
        to="/t/$tenant/deployments/$name/logs"
        params={{ tenant, name }}
        search={{}}
        className={styles.act}
      >
        {words.logs}
      </Link>
    </p>
  )
}
