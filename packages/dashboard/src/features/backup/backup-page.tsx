// One backup: its content, what a restore would change, and its deletion.

import type { BackupRecord } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useBackup } from '../../api/resources/use-backups.ts'
import { useSession } from '../../api/session.tsx'
import { ActOutcome, type Outcome } from '../../parts/act-outcome.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import { texts } from '../../texts/en.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { BackupFacts } from './backup-facts.tsx'
import styles from './backup-page.module.css'
import { DeleteBackup } from './delete-backup.tsx'
import { RestoreBackup } from './restore-backup.tsx'

const route = getRouteApi('/t/$tenant/backups/$backup')

/** Another backup has another page: nothing of the one before may stay. */
export function BackupPage() {
  const { backup } = route.useParams()
  return <BackupOf key={backup} id={backup} />
}

function BackupOf({ id }: { readonly id: string }) {
  const { data: backup, error, refetch } = useBackup(id)
  if (backup !== undefined) return <Content backup={backup} />
  if (error !== null && isNotFound(error)) return <Unknown />
  return (
    <div className={styles.page}>
      <PageHead title={texts.pages.backups} />
      {error === null ? (
        <Loading lines={6} />
      ) : (
        <Failed {...explainFailure(error)} onRetry={() => void refetch()} />
      )}
    </div>
  )
}

function Content({ backup }: { readonly backup: BackupRecord }) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const onDone = (text: string): void => setOutcome({ kind: 'done', text })
  return (
    <div className={styles.page}>
      <PageHead
        title={backupTexts.of(backup.deploymentName)}
        actions={<RestoreBackup backup={backup} onDone={onDone} />}
      />
      <ActOutcome outcome={outcome} />
      <BackupFacts backup={backup} />
      <Panel title={backupTexts.spec} aside={backupTexts.specNote}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre className={styles.spec} tabIndex={0}>
          {JSON.stringify(backup.spec, null, 2)}
        </pre>
      </Panel>
      <DeleteBackup backup={backup} onDone={onDone} />
      <CliFoot same={resourceEquivalents.backup(backup.id)} />
    </div>
  )
}

function Unknown() {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(backupTexts.unknown)} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/backups" params={{ tenant }} search={{}}>
          {backupTexts.all}
        </Link>
      </p>
    </div>
  )
}
