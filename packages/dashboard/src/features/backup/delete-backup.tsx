// The deletion of a backup, apart from its restore.

import type { Backup } from '@holdfast/contract'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { NEVER_CHANGES } from '../../api/matching.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import styles from './backup-page.module.css'

interface Props {
  readonly backup: Backup
  onDone(text: string): void
}

const NEEDS = 'backups:write'

export function DeleteBackup({ backup, onDone }: Props) {
  const { closed } = useWrite(NEEDS, useStale())
  const [opened, setOpened] = useState(false)
  return (
    <Panel title={backupTexts.remove} aside={backupTexts.removeNote}>
      <div className={styles.ask}>
        <ActButton
          label={backupTexts.removeOf(backup.deploymentName)}
          closed={closed}
          running={false}
          onAct={() => setOpened(true)}
        />
      </div>
      {opened ? <Confirm backup={backup} onDone={onDone} onClose={() => setOpened(false)} /> : null}
    </Panel>
  )
}

function Confirm({ backup: { id, deploymentName: name }, onDone, onClose }: Props & { onClose(): void }) {
  const { client, tenant } = useSession()
  const navigate = useNavigate()
  const leave = (): void => {
    onDone(backupTexts.removed)
    void navigate({ to: '/t/$tenant/backups', params: { tenant }, search: {} })
  }
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'delete-backup', id),
    needs: NEEDS,
    stale: useStale(),
    plan: (options) => client.backups.dryRuns.remove(id, options),
    ask: () => client.backups.remove(id, NEVER_CHANGES).then(afterSuccess(leave)),
  })
  return (
    <PlannedDialog
      {...planned}
      title={backupTexts.removeOf(name)}
      label={backupTexts.removeOf(name)}
      none={backupTexts.removeNone}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{backupTexts.removeEffect}</p>
    </PlannedDialog>
  )
}
