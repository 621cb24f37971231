// The form of a new backup.

import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useDeployments } from '../../api/use-deployments.ts'
import { useStale } from '../../live/live-provider.tsx'
import { SelectField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { backupTexts } from '../../texts/en/backups.ts'

interface Props {
  onDone(text: string): void
  onClose(): void
}

const FIELDS = ['deploymentName']

export function CreateBackup({ onDone, onClose }: Props) {
  const { client } = useSession()
  const { closed, outcome, run } = useWrite('backups:write', useStale())
  const { items = [] } = useDeployments({})
  const send = (values: FormData): void => {
    const name = typedText(values, 'deploymentName')
    const finish = afterSuccess(() => onDone(backupTexts.createdOf(name)))
    run((idempotencyKey) => client.backups.create(name, { idempotencyKey }).then(finish))
  }
  return (
    <FormDialog
      title={backupTexts.create}
      label={backupTexts.submit}
      closed={closed}
      outcome={outcome}
      fields={FIELDS}
      onSend={send}
      onClose={onClose}
    >
      <SelectField
        name="deploymentName"
        label={backupTexts.deployment}
        hint={backupTexts.createHint}
        choices={items.map(({ name }) => ({ value: name, label: name }))}
      />
    </FormDialog>
  )
}
