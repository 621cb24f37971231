// Stores or removes the credential of a registry. The password is in no attribute and leaves its field when it is sent.

import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { TextField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { accessTexts } from '../../texts/en/access.ts'

interface Props {
  readonly host: string
  onDone(text: string): void
  onClose(): void
}

const NEEDS = 'registries:write'

export function SetCredential({ host, onDone, onClose }: Props) {
  const { client } = useSession()
  const { closed, outcome, run } = useWrite(NEEDS, useStale())
  const send = (values: FormData): void => {
    const sent = { username: typedText(values, 'username'), password: String(values.get('password') ?? '') }
    run(() =>
      client.registries.setCredential(host, sent).then(afterSuccess(() => onDone(accessTexts.stored(host)))),
    )
  }
  return (
    <FormDialog
      title={accessTexts.setFor(host)}
      label={accessTexts.store}
      closed={closed}
      outcome={outcome}
      fields={['username', 'password']}
      onSend={send}
      onClose={onClose}
    >
      <TextField name="username" label={accessTexts.username} first />
      <TextField
        name="password"
        type="password"
        label={accessTexts.password}
        hint={accessTexts.passwordHint}
      />
    </FormDialog>
  )
}

export function RemoveCredential({ host, onDone, onClose }: Props) {
  const { client } = useSession()
  const { closed, outcome, run } = useWrite(NEEDS, useStale())
  const remove = (): void =>
    run(() =>
      client.registries.removeCredential(host).then(afterSuccess(() => onDone(accessTexts.removedFor(host)))),
    )
  return (
    <ConfirmDialog
      title={accessTexts.removeFor(host)}
      label={accessTexts.removeFor(host)}
      closed={closed}
      outcome={outcome}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{accessTexts.removeEffect}</p>
    </ConfirmDialog>
  )
}
