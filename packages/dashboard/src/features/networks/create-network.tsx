// The form of a new network: its name and its four options.

import { NETWORK_DRIVERS } from '@holdfast/contract'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useNodes } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { CheckField, SelectField, TextField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { networkTexts } from '../../texts/en/networks.ts'
import { readLabels } from './read-labels.ts'

interface Props {
  onDone(text: string): void
  onClose(): void
}

const FIELDS = ['name', 'driver', 'labels', 'internal', 'nodeId']
const DRIVERS = NETWORK_DRIVERS.map((driver) => ({ value: driver, label: driver }))

export function CreateNetwork({ onDone, onClose }: Props) {
  const { client } = useSession()
  const { closed, outcome, run } = useWrite('networks:write', useStale())
  const { items: nodes = [] } = useNodes()
  const send = (values: FormData): void => {
    const nodeId = typedText(values, 'nodeId')
    const sent = {
      name: typedText(values, 'name'),
      driver: typedText(values, 'driver'),
      labels: readLabels(typedText(values, 'labels')),
      internal: values.has('internal'),
      ...(nodeId === '' ? {} : { nodeId }),
    }
    const finish = afterSuccess(() => onDone(networkTexts.created(sent.name)))
    run((idempotencyKey) => client.networks.create(sent, { idempotencyKey }).then(finish))
  }
  const choices = [
    { value: '', label: networkTexts.pickNode },
    ...nodes.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <FormDialog
      title={networkTexts.create}
      label={networkTexts.submit}
      closed={closed}
      outcome={outcome}
      fields={FIELDS}
      onSend={send}
      onClose={onClose}
    >
      <TextField name="name" label={networkTexts.name} hint={networkTexts.nameHint} first />
      <SelectField name="nodeId" label={networkTexts.node} hint={networkTexts.nodeHint} choices={choices} />
      <CheckField name="internal" label={networkTexts.isInternal} hint={networkTexts.internalHint} />
      <SelectField
        name="driver"
        label={networkTexts.driver}
        hint={networkTexts.driverHint}
        choices={DRIVERS}
      />
      <TextField name="labels" label={networkTexts.labels} hint={networkTexts.labelsHint} />
    </FormDialog>
  )
}
