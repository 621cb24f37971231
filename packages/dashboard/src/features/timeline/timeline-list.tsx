// The entries of a timeline: requests with their author, and events.

import type { AuditEntry } from '@holdfast/contract'
import { EventList } from '../../parts/event-list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { texts } from '../../texts/en.ts'
import type { TimelineEntry } from './merge-timeline.ts'
import styles from './timeline-page.module.css'

export function TimelineList({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <p className={styles.muted}>{texts.timeline.none}</p>
  return (
    <ol className={styles.list}>
      {entries.map(({ key, act, events }) => (
        <li key={key} className={styles.entry}>
          {act === undefined ? null : <Act act={act} />}
          {events.length === 0 ? null : (
            <div className={act === undefined ? undefined : styles.caused}>
              <EventList events={events} none="" />
            </div>
          )}
        </li>
      ))}
    </ol>
  )
}

function Act({ act: { time, actor, action, subject, revision, onBehalf } }: { readonly act: AuditEntry }) {
  return (
    <p className={styles.act}>
      <Moment iso={time} />
      <strong>{actor.name ?? actor.token}</strong>
      <span className={styles.muted}>
        {actor.role}
        {onBehalf ? `, ${texts.timeline.onBehalf}` : null}
      </span>
      <code>{action}</code>
      <strong>{subject.name}</strong>
      {revision === undefined ? null : <span>{texts.deployment.revision(revision)}</span>}
    </p>
  )
}
