// The entries of a timeline: requests with their author, and events.

import type { AuditEntry } from '@holdfast/contract'
import { memo } from 'react'
import { useSession } from '../../api/session.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { useGrowingCount } from '../../parts/use-growing-count.ts'
import { texts } from '../../texts/en.ts'
import { authorOf, factsOf, verbOf } from './describe-act.ts'
import type { TimelineEntry } from './merge-timeline.ts'
import styles from './timeline-page.module.css'

/** About the height of an entry. */
const ENTRY_PX = 41

export function TimelineList({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const count = useGrowingCount(entries.length)
  if (entries.length === 0) return <p className={styles.muted}>{texts.timeline.none}</p>
  return (
    <ol className={styles.list}>
      {entries.slice(0, count).map((entry) => (
        <Entry key={entry.key} entry={entry} />
      ))}
      {count === entries.length ? null : <li style={{ height: (entries.length - count) * ENTRY_PX }} />}
    </ol>
  )
}

const Entry = memo(({ entry: { act, events } }: { readonly entry: TimelineEntry }) => (
  <li className={styles.entry}>
    {act === undefined ? null : <Act act={act} />}
    {events.length === 0 ? null : <EventList events={events} none="" />}
  </li>
))

function Act({ act }: { readonly act: AuditEntry }) {
  const { time, actor, action, subject, revision, onBehalf } = act
  const facts = factsOf(act)
  return (
    <p className={styles.act}>
      <span className={styles.muted}>
        <Moment iso={time} />
      </span>
      <span className={styles.icon}>
        <Icon name="person" size={14} />
      </span>
      <span className={styles.text}>
        <strong>{authorOf(actor)}</strong>{' '}
        <span className={styles.muted}>
          ({actor.role}
          {onBehalf ? `, ${texts.timeline.onBehalf}` : null})
        </span>{' '}
        <span title={action}>{verbOf(action)}</span> <Subject {...subject} />
        {revision === undefined || subject.kind !== 'Deployment' ? null : (
          <span>, {texts.deployment.revision(revision)}</span>
        )}
        {facts.length === 0 ? null : <span className={styles.muted}> ({facts.join(', ')})</span>}
      </span>
    </p>
  )
}

function Subject({ kind, name }: AuditEntry['subject']) {
  const { tenant } = useSession()
  if (kind !== 'Deployment') return kind === 'Token' ? <code>{name}</code> : <strong>{name}</strong>
  return (
    <PlainLink to="/t/$tenant/deployments/$name/why" params={{ tenant, name }} className={styles.subject}>
      {name}
    </PlainLink>
  )
}
