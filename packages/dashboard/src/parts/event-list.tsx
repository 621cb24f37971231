// Events as a list: time, shape of the severity, subject, sentence of the server.

import type { ListedEvent } from '@holdfast/contract'
import { texts } from '../texts/en.ts'
import styles from './event-list.module.css'
import { Icon } from './icon.tsx'
import { Moment } from './moment.tsx'
import { toneOf } from './word-tones.ts'

interface Props {
  readonly events: readonly ListedEvent[]
  /** Shown instead of an empty list. */
  readonly none: string
  /** Leaves out the subject, where all events have the same. */
  readonly ofOne?: boolean
}

export function EventList({ events, none, ofOne = false }: Props) {
  if (events.length === 0) return <p className={styles.none}>{none}</p>
  return (
    <ol className={styles.list}>
      {events.map((event) => (
        <Row key={event.cursor} event={event} ofOne={ofOne} />
      ))}
    </ol>
  )
}

function Row({ event, ofOne }: { readonly event: ListedEvent; readonly ofOne: boolean }) {
  const { severity, subject, message, count, lastSeen } = event
  const { tone, icon } = toneOf(severity)
  return (
    <li className={styles.row}>
      <span className={styles.time}>
        <Moment iso={lastSeen} />
      </span>
      <span className={styles.icon} data-tone={tone} title={severity}>
        <Icon name={icon} size={14} />
      </span>
      <span className={styles.text}>
        {ofOne ? null : <strong>{subject.name} </strong>}
        {message}
        {count > 1 ? <span className={styles.muted}> {texts.events.times(count)}</span> : null}
      </span>
    </li>
  )
}
