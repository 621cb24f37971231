// The time of the page: a slider that stops at decisions, and a field for any other time. The chosen time is in the address.

import type { Decision } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { timeTexts } from '../../texts/en/time.ts'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import { parseTime } from '../../texts/parse-time.ts'
import { Icon } from '../icon.tsx'
import { useNow } from '../use-now.ts'
import { toneOf } from '../word-tones.ts'
import { stopOf, timeOfStop } from './stops.ts'
import styles from './time-bar.module.css'

interface Props {
  /** The shown time; absent: now. */
  readonly at: string | undefined
  /** Newest first. */
  readonly decisions: readonly Decision[]
  onChoose(at: string | undefined): void
}

export function TimeBar({ at, decisions, onChoose }: Props) {
  return (
    <search className={styles.bar} aria-label={timeTexts.title}>
      {decisions.length < 2 ? null : <Slider at={at} decisions={decisions} onChoose={onChoose} />}
      <TimeField at={at} onChoose={onChoose} />
    </search>
  )
}

function Slider({ at, decisions, onChoose }: Props) {
  const now = useNow()
  const stop = stopOf(decisions, at)
  const chosen = decisions[decisions.length - 1 - stop]
  const label = chosen === undefined ? timeTexts.now : formatTime(chosen.at, now)
  const first = decisions.at(-1)
  return (
    <div className={styles.slider}>
      <span className={styles.end}>{first === undefined ? null : formatTime(first.at, now)}</span>
      <div className={styles.track}>
        <input
          type="range"
          min={0}
          max={decisions.length}
          step={1}
          value={stop}
          aria-label={timeTexts.slider}
          aria-valuetext={chosen === undefined ? label : timeTexts.stop(label, chosen.phase, chosen.revision)}
          onChange={({ currentTarget }) => onChoose(timeOfStop(decisions, Number(currentTarget.value)))}
        />
        <span className={styles.stops} aria-hidden="true">
          {decisions.toReversed().map((decision) => (
            <Stop key={decision.at} decision={decision} />
          ))}
          <span className={styles.stop} />
        </span>
        <p className={styles.scale}>{timeTexts.scale}</p>
      </div>
      <span className={styles.end}>{timeTexts.now}</span>
    </div>
  )
}

function Stop({ decision: { phase, at } }: { readonly decision: Decision }) {
  const { tone, icon } = toneOf(phase)
  return (
    <span className={styles.stop} data-tone={tone} title={`${formatTime(at, Date.now())} ${phase}`}>
      <Icon name={icon} size={12} />
    </span>
  )
}

function TimeField({ at, onChoose }: Pick<Props, 'at' | 'onChoose'>) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const chosen = parseTime(String(new FormData(event.currentTarget).get('at') ?? ''), Date.now())
    setWrong(chosen === undefined)
    if (chosen !== undefined) onChoose(chosen)
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        name="at"
        aria-label={timeTexts.field}
        placeholder={timeTexts.hint}
        size="xs"
        autoComplete="off"
        error={wrong ? texts.why.atInvalid : null}
      />
      <Button type="submit" variant="default" size="compact-sm">
        {texts.why.show}
      </Button>
      {at === undefined ? null : (
        <Button size="compact-sm" onClick={() => onChoose(undefined)}>
          {texts.why.now}
        </Button>
      )}
    </form>
  )
}
