// The entries of a timeline: requests with their author, and events.

import type { AuditEntry } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { texts } from '../../texts/en.ts'
import { authorOf, factsOf, verbOf } from './describe-act.ts'
import type { TimelineEntry } from './merge-timeline.ts'
import styles from './timeline-page.module.css'

export function TimelineList({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <p className={styles.muted}>{texts.timeline.none}</p>
  return (
    <ol className={styles.list}>
      {entries.map(({ key, act, events }) => (
        <li key={key} className={styles.entry}>
          {act === undefined ? null : <Act act={act} />}
          {events.length === 0 ? null : <EventList events={events} none="" />}
        </li>
      ))}
    </ol>
  )
}

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
    <Link
      to="/t/$tenant/deployments/$name/why"
      params={{ tenant, name }}
      search={{}}
      className={styles.subject}
    >
      {name}
    </Link>
  )
}
