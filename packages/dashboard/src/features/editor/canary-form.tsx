// Tries the edited text in a canary: a few replicas beside the others, with a share of the requests.

import type { JsonObject } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { changes } from '../../api/plan/changes.ts'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { changedBody } from './body-of.ts'
import styles from './editor.module.css'
import type { Intent } from './manifest-editor.tsx'

interface Props {
  readonly name: string
  readonly revision: number
  readonly loaded: JsonObject
  onPreview(intent: Intent): void
}

const MAX_WEIGHT = 99

export function CanaryForm({ name, revision, loaded, onPreview }: Props) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [replicas, weight] = [Number(form.get('replicas')), Number(form.get('weight'))]
    const isRight = isCount(replicas) && isCount(weight) && weight <= MAX_WEIGHT
    setWrong(!isRight)
    if (isRight)
      onPreview({
        verb: texts.plan.verbs.canary,
        body: (value) => changedBody(loaded, value),
        change: (_name, body) =>
          changes.startCanary(name, body, { base: revision, loaded, replicas, weight }),
      })
  }
  return (
    <Panel title={texts.editor.canary}>
      <form className={styles.canary} onSubmit={submit}>
        <p className={styles.muted}>{texts.editor.canaryNote}</p>
        <div className={styles.fields}>
          <TextInput
            name="replicas"
            label={texts.editor.canaryReplicas}
            defaultValue="1"
            inputMode="numeric"
          />
          <TextInput name="weight" label={texts.editor.canaryWeight} defaultValue="10" inputMode="numeric" />
          <Button type="submit" variant="default">
            {texts.editor.canaryPreview}
          </Button>
        </div>
        {wrong ? <p role="alert">{texts.editor.canaryWrong}</p> : null}
      </form>
    </Panel>
  )
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
