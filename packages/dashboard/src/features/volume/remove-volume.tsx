// The deletion of a volume, apart from the other changes. Its data is lost for good, so its name must be typed.

import type { Volume } from '@holdfast/contract'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import styles from './volume-page.module.css'

interface Props {
  readonly volume: Volume
  onDone(text: string): void
}

const NEEDS = 'volumes:write'

export function RemoveVolume({ volume, onDone }: Props) {
  const { closed } = useWrite(NEEDS, useStale())
  const [opened, setOpened] = useState(false)
  const finish = (text: string): void => {
    setOpened(false)
    onDone(text)
  }
  return (
    <Panel title={volumeTexts.remove} aside={volumeTexts.removeNote}>
      <div className={styles.ask}>
        <ActButton
          label={volumeTexts.removeTitle(volume.name)}
          closed={closed}
          running={false}
          onAct={() => setOpened(true)}
        />
      </div>
      {opened ? <Confirm volume={volume} onDone={finish} onClose={() => setOpened(false)} /> : null}
    </Panel>
  )
}

function Confirm({ volume, onDone, onClose }: Props & { onClose(): void }) {
  const { id, name, revision } = volume
  const { client, tenant } = useSession()
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'delete-volume', id),
    needs: NEEDS,
    stale: useStale(),
    plan: (options) => client.volumes.dryRuns.remove(id, options),
    ask: () =>
      client.volumes
        .remove(id, { ifMatch: String(revision) })
        .then(afterSuccess(() => onDone(volumeTexts.removed(name)))),
  })
  return (
    <PlannedDialog
      {...planned}
      title={volumeTexts.removeTitle(name)}
      label={volumeTexts.removeOf(name)}
      none={volumeTexts.nothingRuns}
      effects={answer?.plan.effects}
      typed={name}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{volumeTexts.removeEffect}</p>
    </PlannedDialog>
  )
}
