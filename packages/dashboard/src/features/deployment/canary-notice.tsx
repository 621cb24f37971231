// The canary of a deployment: its phase, its share, its failures, and the two ways to end it.

import type { Canary } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { useRecord } from '../../api/use-deployments.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { canaryTexts } from '../../texts/en/canary.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './deployment-frame.module.css'

export function CanaryNotice({ name }: { readonly name: string }) {
  const { data: record } = useRecord(name)
  const canary = record?.canary
  if (canary === undefined) return null
  const isOver = canary.phase === 'aborted'
  return (
    <Notice
      severity={isOver ? 'warning' : 'info'}
      title={canaryTexts.title(wordsOf(canary.phase), wordsOf(canary.reason))}
    >
      <Facts canary={canary} />
      {isOver ? null : <Ends name={name} />}
    </Notice>
  )
}

function Facts({ canary }: { readonly canary: Canary }) {
  const { replicas, weight, since, failures, change, observe } = canary
  return (
    <>
      <p>
        {canaryTexts.size(replicas, weight)} {canaryTexts.observed(observe)} {canaryTexts.since}{' '}
        <Moment iso={since} />. {canaryTexts.fields} {Object.keys(change).join(', ')}.
      </p>
      {failures.map(({ replica, reason, cause, at }) => (
        <p key={`${replica} ${at}`}>{canaryTexts.failure(replica, wordsOf(reason), cause)}</p>
      ))}
    </>
  )
}

const ENDS = [
  { act: 'promote', label: canaryTexts.promote },
  { act: 'abort', label: canaryTexts.abort },
] as const

function Ends({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return (
    <p className={styles.ends}>
      {ENDS.map(({ act, label }) => (
        <Link
          key={act}
          to="/t/$tenant/deployments/$name/change"
          params={{ tenant, name }}
          search={{ act }}
          className={styles.act}
        >
          {label}
        </Link>
      ))}
    </p>
  )
}
