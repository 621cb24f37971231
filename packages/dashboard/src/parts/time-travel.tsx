// A time field, and the decisions at which the explanation changed. The chosen time is in the address.

import type { Decision } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { texts } from '../texts/en.ts'
import { parseTime } from '../texts/parse-time.ts'
import { Moment } from './moment.tsx'
import { Panel } from './panel.tsx'
import { PhaseBadge } from './phase-badge.tsx'
import styles from './time-travel.module.css'

interface Props {
  /** The shown time; absent: now. */
  readonly at?: string | undefined
  readonly decisions: readonly Decision[]
  onChoose(at: string | undefined): void
}

export function TimeTravel({ at, decisions, onChoose }: Props) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const chosen = parseTime(String(new FormData(event.currentTarget).get('at') ?? ''), Date.now())
    setWrong(chosen === undefined)
    if (chosen !== undefined) onChoose(chosen)
  }
  return (
    <Panel title={texts.why.decisions}>
      <form className={styles.form} onSubmit={submit}>
        <span>{texts.why.at}</span>
        <TextInput
          name="at"
          aria-label={texts.why.at}
          placeholder={texts.why.atHint}
          size="xs"
          autoComplete="off"
          error={wrong ? texts.why.atInvalid : null}
        />
        <Button type="submit" variant="default" size="compact-sm">
          {texts.why.show}
        </Button>
        {at === undefined ? null : (
          <Button variant="default" size="compact-sm" onClick={() => onChoose(undefined)}>
            {texts.why.now}
          </Button>
        )}
      </form>
      <ol className={styles.list}>
        {decisions.map((decision) => (
          <li key={decision.at}>
            <button
              type="button"
              className={styles.decision}
              aria-pressed={decision.at === at}
              onClick={() => onChoose(decision.at)}
              data-row
            >
              <Moment iso={decision.at} />
              <PhaseBadge word={decision.phase} reason={decision.reason} />
              <span className={styles.summary}>{decision.summary}</span>
              <span className={styles.revision}>{texts.deployment.revision(decision.revision)}</span>
            </button>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
