// A titled section of a page.

import { type ReactNode, useId } from 'react'
import styles from './panel.module.css'

interface Props {
  readonly title: string
  /** Shown at the right of the title. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}

export function Panel({ title, aside, children }: Props) {
  const id = useId()
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <div className={styles.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  )
}
