// Asks before a network is deleted. The server refuses it while a workload names the network.

import type { Network } from '@holdfast/contract'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { networkTexts } from '../../texts/en/networks.ts'

interface Props {
  readonly network: Network
  onDone(text: string): void
  onClose(): void
}

export function DeleteNetwork({ network: { id, name, revision }, onDone, onClose }: Props) {
  const { client, tenant } = useSession()
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'delete-network', id),
    needs: 'networks:write',
    stale: useStale(),
    plan: (options) => client.networks.dryRuns.remove(id, options),
    ask: () =>
      client.networks
        .remove(id, { ifMatch: String(revision) })
        .then(afterSuccess(() => onDone(networkTexts.removed(name)))),
  })
  return (
    <PlannedDialog
      {...planned}
      title={networkTexts.removeTitle(name)}
      label={networkTexts.removeOf(name)}
      none={networkTexts.removeNone}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{networkTexts.removeEffect}</p>
    </PlannedDialog>
  )
}
