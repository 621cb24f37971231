// Deletes a secret that no deployment uses. Its values are lost, so the person types its path.

import type { SecretSummary } from '@holdfast/contract'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { texts } from '../../texts/en.ts'

const words = texts.secrets.remove

export function DeleteSecret({
  secret: { path, namespace, resource, consumers },
}: {
  readonly secret: SecretSummary
}) {
  const { client, tenant } = useSession()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const { closed, outcome, run } = useWrite('secrets:write', useStale())
  const leave = (): void => void navigate({ to: '/t/$tenant/secrets', params: { tenant } })
  const inUse = consumers.length === 0 ? undefined : words.inUse(consumers)
  return (
    <>
      <ActButton
        label={words.button}
        closed={closed ?? inUse}
        running={outcome.kind === 'running'}
        onAct={() => setOpened(true)}
      />
      {opened ? (
        <ConfirmDialog
          title={words.title(path)}
          label={words.act(path)}
          closed={closed ?? inUse}
          outcome={outcome}
          typed={path}
          onConfirm={() => run(() => client.secrets.remove(namespace, resource).then(afterSuccess(leave)))}
          onClose={() => setOpened(false)}
        >
          <p>{words.effect}</p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}
