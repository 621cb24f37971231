// The title of a page, with its state beside it and its actions at the right. It also names the browser's tab.

import { type ReactNode, useEffect } from 'react'
import { texts } from '../texts/en.ts'
import styles from './page-head.module.css'

interface Props {
  readonly title: string
  /** State beside the title. */
  readonly aside?: ReactNode
  readonly actions?: ReactNode
}

export function PageHead({ title, aside, actions }: Props) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`
  }, [title])
  return (
    <div className={styles.head}>
      <h1 className={styles.title}>{title}</h1>
      {aside}
      {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
