// A button that changes something. If the person may not, it stays visible, closed, with the reason beside it; afterwards it
// shows the outcome, which may be unknown.

import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../texts/en.ts'
import styles from './act-button.module.css'

export type Outcome =
  | { readonly kind: 'idle' | 'running' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly message: ReactNode }
  | { readonly kind: 'done'; readonly text: string; undo?(): void }

interface Props {
  /** Names what it does, such as: Uncordon acme-1. */
  readonly label: string
  /** Why it is closed; absent if it is open. */
  readonly closed?: string | undefined
  readonly outcome: Outcome
  onAct(): void
}

export function ActButton({ label, closed, outcome, onAct }: Props) {
  return (
    <span className={styles.act}>
      {outcome.kind === 'done' ? null : (
        <Button
          variant="default"
          size="compact-sm"
          {...(closed === undefined ? {} : { 'data-disabled': true, 'aria-disabled': true })}
          disabled={outcome.kind === 'running'}
          onClick={() => (closed === undefined ? onAct() : undefined)}
        >
          {label}
        </Button>
      )}
      {closed === undefined ? null : <span className={styles.note}>{closed}</span>}
      <span role="status" className={styles.note}>
        <OutcomeText outcome={outcome} />
      </span>
    </span>
  )
}

function OutcomeText({ outcome }: { readonly outcome: Outcome }) {
  switch (outcome.kind) {
    case 'idle':
      return null
    case 'running':
      return texts.acts.running
    case 'unknown':
      return (
        <>
          {texts.acts.unknown} <Small label={texts.acts.ask} onClick={outcome.again} />
        </>
      )
    case 'failed':
      return (
        <>
          {texts.acts.failed} {outcome.message}
        </>
      )
    case 'done':
      return (
        <>
          {outcome.text}{' '}
          {outcome.undo === undefined ? null : <Small label={texts.acts.undo} onClick={outcome.undo} />}
        </>
      )
  }
}

const Small = ({ label, onClick }: { readonly label: string; onClick(): void }) => (
  <Button variant="default" size="compact-xs" onClick={onClick}>
    {label}
  </Button>
)
