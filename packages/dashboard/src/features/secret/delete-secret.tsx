// Deletes a secret that no deployment uses. Its values are lost, so the person types its path.

import type { SecretSummary } from '@holdfast/contract'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { useAct } from '../../api/use-act.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmDialog } from '../../parts/confirm/confirm-dialog.tsx'
import { Failed } from '../../parts/failed.tsx'
import { texts } from '../../texts/en.ts'

const words = texts.secrets.remove
const NEEDS = 'secrets:write'

export function DeleteSecret({
  secret: { path, namespace, resource, consumers },
}: {
  readonly secret: SecretSummary
}) {
  const { client, me, tenant } = useSession()
  const stale = useStale()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const { state, run } = useAct()
  const remove = (): void =>
    run(async () => {
      const result = await client.secrets.remove(namespace, resource)
      if (result.ok) await navigate({ to: '/t/$tenant/secrets', params: { tenant } })
      return result
    })
  return (
    <>
      <ActButton
        label={words.button}
        closed={closedBecause(mayDo(me, NEEDS), me.token.role, stale, consumers)}
        running={state.kind === 'running'}
        onAct={() => setOpened(true)}
      />
      <ConfirmDialog
        opened={opened}
        title={words.title(path)}
        name={path}
        act={words.act(path)}
        running={state.kind === 'running'}
        onAct={remove}
        onClose={() => setOpened(false)}
      >
        <p>{words.effect}</p>
        {state.kind === 'failed' ? <Failed {...explainFailure(state.error)} /> : null}
        {state.kind === 'unknown' ? <p role="status">{texts.acts.unknown}</p> : null}
      </ConfirmDialog>
    </>
  )
}

function closedBecause(
  may: boolean,
  role: string,
  stale: boolean,
  consumers: readonly string[],
): string | undefined {
  if (!may) return texts.roles.needs(NEEDS, role)
  if (consumers.length > 0) return words.inUse(consumers)
  return stale ? texts.live.closed : undefined
}
