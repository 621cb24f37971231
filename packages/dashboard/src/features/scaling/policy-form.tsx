// The form of a scaling policy. The server checks the numbers; the plan shows what they would change.

import { type JsonObject, SCALING_METRICS, type Scaling } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { readPolicyForm } from './read-policy-form.ts'
import styles from './scaling-page.module.css'

interface Props {
  /** The stored policy; null if there is none. */
  readonly scaling: Scaling | null
  onPreview(body: JsonObject): void
  onRemove(): void
}

const NUMBERS = ['min', 'max', 'targetPercent', 'scaleDownDelay'] as const
const FIRST = { min: '1', max: '5', targetPercent: '60', scaleDownDelay: '300s' } as const

export function PolicyForm({ scaling, onPreview, onRemove }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    onPreview(readPolicyForm((field) => String(form.get(field) ?? '')))
  }
  return (
    <Panel title={scaling === null ? texts.scaling.create : texts.scaling.change}>
      <form className={styles.form} onSubmit={submit}>
        {NUMBERS.map((field) => (
          <TextInput
            key={field}
            name={field}
            label={texts.scaling.fields[field]}
            defaultValue={scaling?.[field] ?? FIRST[field]}
            autoComplete="off"
          />
        ))}
        <label className={styles.metric}>
          {texts.scaling.fields.metric}
          <select name="metric" defaultValue={scaling?.metric ?? 'cpu'}>
            {SCALING_METRICS.map((metric) => (
              <option key={metric} value={metric}>
                {texts.scaling.metrics[metric]}
              </option>
            ))}
          </select>
        </label>
        <div className={styles.buttons}>
          <Button type="submit">{texts.change.preview}</Button>
          {scaling === null ? null : (
            <Button variant="default" onClick={onRemove}>
              {texts.scaling.remove}
            </Button>
          )}
        </div>
      </form>
    </Panel>
  )
}
