// The form of a new volume.

import { VOLUME_CLASSES } from '@holdfast/contract'
import { useState } from 'react'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useNodes } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { SelectField, TextField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { parseSize } from '../../texts/parse-size.ts'

interface Props {
  onDone(text: string): void
  onClose(): void
}

const FIELDS = ['name', 'sizeBytes', 'class', 'replicas', 'nodeId']
const CLASSES = VOLUME_CLASSES.filter((each) => each !== 'object')
  .toSorted((left, right) => right.localeCompare(left))
  .map((value) => ({ value, label: volumeTexts.classes[value] }))
const REPLICAS = ['1', '2', '0'].map((value) => ({ value, label: value }))

export function CreateVolume({ onDone, onClose }: Props) {
  const { client } = useSession()
  const { closed, outcome, run } = useWrite('volumes:write', useStale())
  const { items: nodes = [] } = useNodes()
  const [wrong, setWrong] = useState(false)
  const send = (values: FormData): void => {
    const sizeBytes = parseSize(typedText(values, 'sizeBytes'))
    setWrong(sizeBytes === undefined)
    if (sizeBytes === undefined) return
    const sent = sentVolume(values, sizeBytes)
    const finish = afterSuccess(() => onDone(volumeTexts.created(sent.name)))
    run((idempotencyKey) => client.volumes.create(sent, { idempotencyKey }).then(finish))
  }
  const choices = [
    { value: '', label: volumeTexts.pickNode },
    ...nodes.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <FormDialog
      title={volumeTexts.create}
      label={volumeTexts.submit}
      closed={closed}
      outcome={outcome}
      fields={FIELDS}
      onSend={send}
      onClose={onClose}
    >
      <TextField name="name" label={volumeTexts.name} hint={volumeTexts.nameHint} first />
      <TextField
        name="sizeBytes"
        label={volumeTexts.size}
        hint={volumeTexts.sizeHint}
        {...(wrong ? { fault: volumeTexts.sizeWrong } : {})}
      />
      <SelectField name="class" label={volumeTexts.class} choices={CLASSES} />
      <SelectField name="replicas" label={volumeTexts.replicas} choices={REPLICAS} />
      <SelectField name="nodeId" label={volumeTexts.node} choices={choices} />
    </FormDialog>
  )
}

/** An ephemeral volume has no copies, so their number is not sent. */
function sentVolume(values: FormData, sizeBytes: number) {
  const [kind, nodeId] = [typedText(values, 'class'), typedText(values, 'nodeId')]
  return {
    name: typedText(values, 'name'),
    class: kind,
    sizeBytes,
    ...(kind === 'replicated' ? { replicas: Number(typedText(values, 'replicas')) } : {}),
    ...(nodeId === '' ? {} : { nodeId }),
  }
}
