// A framed message: what happened, why, what to do next.

import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import styles from './notice.module.css'
import { toneOf } from './word-tones.ts'

interface Props {
  readonly severity: 'error' | 'warning' | 'info'
  readonly title: string
  readonly children?: ReactNode
  /** Announces the message to screen readers; for messages that appear after an action. */
  readonly announced?: boolean
}

export function Notice({ severity, title, children, announced = false }: Props) {
  const { tone, icon } = toneOf(severity)
  return (
    <div className={styles.notice} data-tone={tone} {...(announced ? { role: 'alert' } : {})}>
      <span className={styles.icon}>
        <Icon name={icon} />
      </span>
      <div className={styles.content}>
        <p className={styles.title}>{title}</p>
        {children}
      </div>
    </div>
  )
}
