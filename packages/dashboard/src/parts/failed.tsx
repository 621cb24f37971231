// A read that failed: the explanation, every rejection of the server, and a way to try again.

import type { Rejection } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { texts } from '../texts/en.ts'
import styles from './failed.module.css'
import { Notice } from './notice.tsx'

interface Props {
  readonly title: string
  readonly detail?: string | undefined
  readonly next?: string | undefined
  readonly rejections: readonly Rejection[]
  onRetry?(): void
}

export function Failed({ title, detail, next, rejections, onRetry }: Props) {
  return (
    <Notice severity="error" title={title} announced>
      {detail === undefined ? null : <p className={styles.detail}>{detail}</p>}
      {rejections.map((rejection) => (
        <RejectionLine key={`${rejection.field}-${rejection.code}`} rejection={rejection} />
      ))}
      {next === undefined ? null : <p>{next}</p>}
      {onRetry === undefined ? null : (
        <div>
          <Button variant="default" size="compact-sm" onClick={onRetry}>
            {texts.failures.again}
          </Button>
        </div>
      )}
    </Notice>
  )
}

function RejectionLine({ rejection: { code, field, expected, doc } }: { readonly rejection: Rejection }) {
  return (
    <p className={styles.detail}>
      <code>{code}</code> {field === '' ? null : <code>{field}</code>} {texts.failures.expected}: {expected}.{' '}
      {doc === '' ? null : <a href={doc}>{texts.failures.learn}</a>}
    </p>
  )
}
