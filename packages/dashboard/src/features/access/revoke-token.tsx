// Asks before a token is revoked.

import type { Token } from '@holdfast/contract'
import { keys } from '../../api/keys.ts'
import { NEVER_CHANGES } from '../../api/matching.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { Notice } from '../../parts/notice.tsx'
import { accessTexts } from '../../texts/en/access.ts'

interface Props {
  readonly token: Token
  onDone(text: string): void
  onClose(): void
}

export function RevokeToken({ token: { id, name }, onDone, onClose }: Props) {
  const { client, tenant, me } = useSession()
  const finish = (): void => {
    onClose()
    onDone(accessTexts.revoked(name))
  }
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'revoke-token', id),
    needs: 'tokens:write',
    stale: useStale(),
    plan: (options) => client.dryRuns.revokeToken(tenant, id, options),
    ask: () => client.tenants.revokeToken(tenant, id, NEVER_CHANGES).then(afterSuccess(finish)),
  })
  return (
    <PlannedDialog
      {...planned}
      title={accessTexts.revokeOf(name)}
      label={accessTexts.revokeOf(name)}
      none={accessTexts.revokeNone}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{accessTexts.revokeEffect}</p>
      {id === me.token.id ? <Notice severity="warning" title={accessTexts.revokeOwn} /> : null}
    </PlannedDialog>
  )
}
