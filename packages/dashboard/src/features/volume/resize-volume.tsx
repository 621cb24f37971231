// Changes the size of a volume. The server says beforehand whether every copy has room for it.

import type { Volume } from '@holdfast/contract'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatBytes } from '../../texts/format.ts'
import { parseSize } from '../../texts/parse-size.ts'
import { volumeChanges } from './volume-changes.ts'

interface Props {
  readonly volume: Volume
  onDone(text: string): void
  onClose(): void
}

export function ResizeVolume({ volume, onDone, onClose }: Props) {
  const { id, name } = volume
  const { client, tenant } = useSession()
  const [typed, setTyped] = useState('')
  const bytes = parseSize(typed)
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'resize', id, bytes ?? 0),
    needs: 'volumes:write',
    stale: useStale(),
    chosen: bytes !== undefined,
    plan: (options) => client.volumes.dryRuns.resize(id, bytes ?? 0, options),
    ask: (idempotencyKey) =>
      client.volumes
        .resize(id, bytes ?? 0, { idempotencyKey })
        .then(afterSuccess(({ sizeBytes }) => onDone(volumeTexts.resized(name, formatBytes(sizeBytes))))),
  })
  return (
    <PlannedDialog
      {...planned}
      chosen={bytes !== undefined}
      title={volumeTexts.resizeOf(name)}
      label={bytes === undefined ? volumeTexts.resizeNone : volumeTexts.resizeTo(formatBytes(bytes))}
      none={volumeTexts.nothingRuns}
      fields={answer === undefined ? [] : volumeChanges(volume, answer.plan.result)}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <TextInput
        label={volumeTexts.newSize}
        description={volumeTexts.sizeHint}
        autoComplete="off"
        data-autofocus
        error={typed !== '' && bytes === undefined ? volumeTexts.sizeWrong : null}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </PlannedDialog>
  )
}
