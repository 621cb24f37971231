// The outcome of a change that a person asked for. It may be unknown, and it may be undone.

import { Button } from '@mantine/core'
import { texts } from '../texts/en.ts'
import styles from './act-button.module.css'

export type Outcome =
  | { readonly kind: 'idle' | 'running' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'done'; readonly text: string; undo?(): void }

export function ActOutcome({ outcome }: { readonly outcome: Outcome }) {
  return (
    <p role="status" className={styles.act}>
      <OutcomeText outcome={outcome} />
    </p>
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
