// The fields of plan pages: the number of replicas, and whether the observation of a canary is cut short.

import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { texts } from '../../texts/en.ts'
import styles from './change-page.module.css'

interface ReplicasProps {
  readonly initial: number | undefined
  onChoose(replicas: number): void
}

export function ReplicasField({ initial, onChoose }: ReplicasProps) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const typed = String(new FormData(event.currentTarget).get('replicas') ?? '').trim()
    const isNumber = /^\d{1,6}$/.test(typed)
    setWrong(!isNumber)
    if (isNumber) onChoose(Number(typed))
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        // The field begins with the stored number, which arrives after the page.
        key={initial === undefined ? 'empty' : 'known'}
        name="replicas"
        label={texts.change.replicas}
        description={texts.change.replicasHint}
        defaultValue={initial ?? ''}
        inputMode="numeric"
        autoComplete="off"
        error={wrong ? texts.change.replicasWrong : null}
      />
      <Button type="submit" variant="default">
        {texts.change.preview}
      </Button>
    </form>
  )
}

interface ForceProps {
  readonly checked: boolean
  onChoose(force: boolean): void
}

export const ForceField = ({ checked, onChoose }: ForceProps) => (
  <label className={styles.force}>
    <input type="checkbox" checked={checked} onChange={(event) => onChoose(event.currentTarget.checked)} />
    {texts.change.force}
  </label>
)
