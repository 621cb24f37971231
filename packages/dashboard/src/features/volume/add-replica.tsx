// Adds a copy of a volume on a node that has none. The server says beforehand whether the node accepts it.

import type { Volume } from '@holdfast/contract'
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useNodes } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { volumeChanges } from './volume-changes.ts'

interface Props {
  readonly volume: Volume
  onDone(text: string): void
  onClose(): void
}

export function AddReplica({ volume, onDone, onClose }: Props) {
  const { id, name, copies } = volume
  const { client, tenant } = useSession()
  const { items = [] } = useNodes()
  const [node, setNode] = useState('')
  const free = items.filter((each) => !copies.some(({ nodeId }) => nodeId === each.id))
  const nodeName = free.find((each) => each.id === node)?.name
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'add-replica', id, node),
    needs: 'volumes:write',
    stale: useStale(),
    chosen: node !== '',
    plan: (options) => client.volumes.dryRuns.addReplica(id, node, options),
    ask: (idempotencyKey) =>
      client.volumes
        .addReplica(id, node, { idempotencyKey })
        .then(afterSuccess(() => onDone(volumeTexts.added(nodeName ?? node)))),
  })
  return (
    <PlannedDialog
      {...planned}
      chosen={node !== ''}
      title={volumeTexts.addReplicaTo(name)}
      label={nodeName === undefined ? volumeTexts.addOnNone : volumeTexts.addOn(nodeName)}
      none={volumeTexts.nothingRuns}
      fields={answer === undefined ? [] : volumeChanges(volume, answer.plan.result)}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <NativeSelect
        label={volumeTexts.onNode}
        value={node}
        data-autofocus
        data={[
          { value: '', label: volumeTexts.chooseNode },
          ...free.map((each) => ({ value: each.id, label: each.name })),
        ]}
        onChange={(event) => setNode(event.currentTarget.value)}
      />
    </PlannedDialog>
  )
}
