// The form of a new token. Its value is in memory only while the dialog is open.

import { type IssuedToken, ROLES, type Role } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { Dialog } from '../../parts/dialog/dialog.tsx'
import { SelectField, TextField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { OneTimeText } from '../../parts/secret/one-time-text.tsx'
import { accessTexts } from '../../texts/en/access.ts'
import { dialogTexts } from '../../texts/en/dialog.ts'

interface Props {
  onDone(text: string): void
  onClose(): void
}

const FIELDS = ['name', 'role', 'expiresAt']
const LIFETIMES = Object.entries(accessTexts.lifetimes).map(([value, label]) => ({ value, label }))
const DAY_MS = 86_400_000

export function CreateToken({ onDone, onClose }: Props) {
  const { client, tenant, me } = useSession()
  const { closed, outcome, run } = useWrite('tokens:write', useStale())
  const [issued, setIssued] = useState<IssuedToken>()
  const send = (values: FormData): void => {
    const sent = {
      name: typedText(values, 'name'),
      role: ROLES.find((role) => role === typedText(values, 'role')) ?? 'viewer',
      expiresAt: new Date(Date.now() + Number(typedText(values, 'expiresAt')) * DAY_MS).toISOString(),
    }
    const finish = afterSuccess<IssuedToken>((token) => {
      setIssued(token)
      onDone(accessTexts.issued(token.name))
    })
    run((idempotencyKey) => client.tenants.issueToken(tenant, sent, { idempotencyKey }).then(finish))
  }
  if (issued !== undefined) return <Issued issued={issued} onClose={onClose} />
  return (
    <FormDialog
      title={accessTexts.create}
      label={accessTexts.submit}
      closed={closed}
      outcome={outcome}
      fields={FIELDS}
      onSend={send}
      onClose={onClose}
    >
      <TextField name="name" label={accessTexts.name} hint={accessTexts.nameHint} first />
      <SelectField
        name="role"
        label={accessTexts.role}
        hint={accessTexts.roleHint}
        choices={rolesFor(me.token.role).map((role) => ({ value: role, label: role }))}
      />
      <SelectField name="expiresAt" label={accessTexts.lifetime} choices={LIFETIMES} value="90" />
    </FormDialog>
  )
}

function Issued({ issued: { name, token }, onClose }: { readonly issued: IssuedToken; onClose(): void }) {
  const title = accessTexts.createdTitle(name)
  return (
    <Dialog title={title} onClose={onClose}>
      {token === undefined ? null : <p>{accessTexts.once}</p>}
      <OneTimeText label={title} text={token} lost={accessTexts.lost} />
      <div>
        <Button variant="default" onClick={onClose}>
          {token === undefined ? dialogTexts.close : accessTexts.close}
        </Button>
      </div>
    </Dialog>
  )
}

/** Only a platform administrator creates another one. */
const rolesFor = (own: Role): readonly Role[] =>
  ROLES.filter((role) => role !== 'platform-admin' || own === 'platform-admin')
