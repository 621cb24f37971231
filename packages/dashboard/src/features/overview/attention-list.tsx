// The items that need a person: each with its reason, the smallest change that helps, and the page that shows more.

import type { Attention } from '@holdfast/contract'
import { useSession } from '../../api/session.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './attention-list.module.css'
import { pageOfSubject } from './page-of-subject.ts'

export function AttentionList({ items }: { readonly items: readonly Attention[] }) {
  return (
    <ul>
      {items.map((item) => (
        <Row key={`${item.subject.kind}/${item.subject.uid}/${item.code}`} item={item} />
      ))}
    </ul>
  )
}

function Row({ item: { severity, subject, code, text, cure, since } }: { readonly item: Attention }) {
  return (
    <li className={styles.row}>
      <span className={styles.severity}>
        <PhaseBadge word={severity} label={texts.overview.severities[severity]} />
      </span>
      <span className={styles.subject}>
        <strong>{subject.name}</strong>
        <span className={styles.muted}> {wordsOf(subject.kind)}</span>
      </span>
      <div className={styles.why}>
        <p>
          <strong>{wordsOf(code)}</strong> {text}
        </p>
        {cure === undefined ? null : (
          <p>
            {texts.overview.cure} {cure.text}
          </p>
        )}
      </div>
      <span className={styles.since}>{since === null ? null : <Moment iso={since} age />}</span>
      <span className={styles.next}>
        <Review subject={subject} />
      </span>
    </li>
  )
}

/** Leads to the page that explains the subject and offers the remedies, if there is one. */
function Review({ subject }: { readonly subject: Attention['subject'] }) {
  const { tenant } = useSession()
  const page = pageOfSubject(subject)
  if (page === undefined) return null
  return (
    <PlainLink
      to={page.to}
      params={{ tenant, ...page.params }}
      className={styles.link}
      aria-label={texts.overview.reviewOf(subject.name)}
      data-row
    >
      {texts.overview.review}
    </PlainLink>
  )
}
