// Restores a deployment from a backup. The dry run shows first which fields change and what happens to its replicas.

import type { Backup } from '@holdfast/contract'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { matching } from '../../api/matching.ts'
import { planRestore } from '../../api/resources/plan-restore.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { changedFields } from '../../parts/plan/changed-fields.ts'
import { backupTexts } from '../../texts/en/backups.ts'

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
    plan: (options) => planRestore(client, backup, options),
    ask: (idempotencyKey, shown) =>
      client.backups
        .restore(id, { idempotencyKey, ...matching(shown.revision) })
        .then(afterSuccess(() => onDone(backupTexts.restored(name)))),
  })
  return (
    <PlannedDialog
      {...planned}
      title={backupTexts.restoreTitle(name)}
      label={backupTexts.restoreOf(name, deploymentRevision)}
      none={backupTexts.restoreNone}
      fields={answer?.plan.changes.flatMap(({ field, from, to }) => changedFields(from, to, field)) ?? []}
      steps={answer?.plan.steps.map(({ text }) => text) ?? []}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      {answer === undefined ? null : <p>{backupTexts.restoreActions[answer.plan.action]}</p>}
    </PlannedDialog>
  )
}
