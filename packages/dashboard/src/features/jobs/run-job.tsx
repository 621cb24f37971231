// The form that runs one container to its end.

import { useNavigate } from '@tanstack/react-router'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useNodes } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { SelectField, TextField, typedText } from '../../parts/dialog/fields.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'
import { resourceTexts } from '../../texts/en/resources.ts'
import { splitWords } from '../../texts/split-words.ts'

const FIELDS = ['name', 'image', 'command', 'nodeId', 'timeout', 'retries']
const RETRIES = ['0', '1', '2', '3', '5'].map((value) => ({ value, label: value }))

export function RunJob({ onClose }: { onClose(): void }) {
  const { client, tenant } = useSession()
  const { closed, outcome, run } = useWrite('jobs:write', useStale())
  const { items: nodes = [] } = useNodes()
  const navigate = useNavigate()
  const send = (values: FormData): void => {
    const opened = afterSuccess<{ readonly job: { readonly id: string } }>(
      ({ job }) => void navigate({ to: '/t/$tenant/jobs/$job', params: { tenant, job: job.id } }),
    )
    run((idempotencyKey) => client.jobs.create(sentJob(values), { idempotencyKey }).then(opened))
  }
  const choices = [
    { value: '', label: resourceTexts.anyNode },
    ...nodes.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <FormDialog
      title={jobTexts.run}
      label={jobTexts.submit}
      closed={closed}
      outcome={outcome}
      fields={FIELDS}
      onSend={send}
      onClose={onClose}
    >
      <TextField name="name" label={jobTexts.name} hint={jobTexts.nameHint} first />
      <TextField name="image" label={jobTexts.image} hint={jobTexts.imageHint} />
      <TextField name="command" label={jobTexts.command} hint={jobTexts.commandHint} />
      <SelectField name="nodeId" label={jobTexts.node} hint={jobTexts.nodeHint} choices={choices} />
      <TextField name="timeout" label={jobTexts.timeout} hint={jobTexts.timeoutHint} value="1h" />
      <SelectField name="retries" label={jobTexts.retries} choices={RETRIES} />
    </FormDialog>
  )
}

function sentJob(values: FormData) {
  const command = splitWords(typedText(values, 'command'))
  const [nodeId, timeout] = [typedText(values, 'nodeId'), typedText(values, 'timeout')]
  return {
    kind: 'Job',
    name: typedText(values, 'name'),
    image: typedText(values, 'image'),
    retries: Number(typedText(values, 'retries')),
    ...(command.length === 0 ? {} : { command }),
    ...(nodeId === '' ? {} : { nodeId }),
    ...(timeout === '' ? {} : { timeout }),
  }
}
