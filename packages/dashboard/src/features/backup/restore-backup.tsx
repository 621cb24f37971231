// Restores a deployment from a backup. The dry run shows first which fields change and what happens to its replicas.

import type { Backup, DryRun } from '@holdfast/contract'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ChangeList } from '../../parts/resource/change-list.tsx'
import { ConfirmDialog } from '../../parts/resource/confirm-dialog.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import { showValue } from '../../texts/show-value.ts'
import styles from './backup-page.module.css'

interface Props {
  readonly backup: Backup
  onDone(text: string): void
}

const NEEDS = 'backups:write'

export function RestoreBackup({ backup, onDone }: Props) {
  const { closed } = useWrite(NEEDS, useStale())
  const [opened, setOpened] = useState(false)
  const finish = (text: string): void => {
    setOpened(false)
    onDone(text)
  }
  return (
    <>
      <ActButton label={backupTexts.restore} closed={closed} running={false} onAct={() => setOpened(true)} />
      {opened ? <Confirm backup={backup} onDone={finish} onClose={() => setOpened(false)} /> : null}
    </>
  )
}

function Confirm({ backup, onDone, onClose }: Props & { onClose(): void }) {
  const { id, deploymentName: name, deploymentRevision } = backup
  const { client, tenant } = useSession()
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'restore', id),
    needs: NEEDS,
    stale: useStale(),
    plan: (options) => client.backups.dryRuns.restore(id, options),
    ask: (idempotencyKey) =>
      client.backups
        .restore(id, { idempotencyKey })
        .then(afterSuccess(() => onDone(backupTexts.restored(name)))),
  })
  return (
    <ConfirmDialog
      {...planned}
      title={backupTexts.restoreTitle(name)}
      label={backupTexts.restoreOf(name, deploymentRevision)}
      none={backupTexts.restoreNone}
      planned={answer === undefined ? null : <PlannedFields plan={answer.plan} />}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      {answer === undefined ? null : <p>{backupTexts.restoreActions[answer.plan.action]}</p>}
    </ConfirmDialog>
  )
}

/** The fields that change, and the steps in order. */
function PlannedFields({ plan: { changes, steps } }: { readonly plan: DryRun['plan'] }) {
  const shown = changes.map(({ field, from, to }) => ({
    name: field,
    from: showValue(from),
    to: showValue(to),
  }))
  return (
    <>
      <ChangeList changes={shown} />
      <ol className={styles.steps}>
        {steps.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ol>
    </>
  )
}
