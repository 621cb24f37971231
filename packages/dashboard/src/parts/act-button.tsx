// A button that changes something. If the person may not use it, it stays visible, closed, with the reason beside it.

import { Button } from '@mantine/core'
import styles from './act-button.module.css'

interface Props {
  /** Names what it does, such as: Uncordon acme-1. */
  readonly label: string
  /** Why it is closed; absent if it is open. */
  readonly closed?: string | undefined
  /** True while the server is asked. */
  readonly running: boolean
  /** True for the button that a person most likely wants. */
  readonly primary?: boolean
  onAct(): void
}

export function ActButton({ label, closed, running, primary = false, onAct }: Props) {
  return (
    <span className={styles.act}>
      <Button
        {...(primary ? {} : { variant: 'default' })}
        size="compact-sm"
        {...(closed === undefined ? {} : { 'data-disabled': true, 'aria-disabled': true })}
        disabled={running}
        onClick={() => (closed === undefined ? onAct() : undefined)}
      >
        {label}
      </Button>
      {closed === undefined ? null : <span className={styles.note}>{closed}</span>}
    </span>
  )
}
