// The outcome of a change that a person asked for: done, refused, unknown, or not sent because its plan has changed. It may
// be undone.

import type { Rejection } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { texts } from '../texts/en.ts'
import styles from './act-button.module.css'
import { Failed } from './failed.tsx'
import { Notice } from './notice.tsx'

export interface FailureShown {
  readonly title: string
  readonly detail?: string | undefined
  readonly next?: string | undefined
  readonly rejections: readonly Rejection[]
}

export type Outcome =
  | { readonly kind: 'idle' | 'running' | 'changed' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly failure: FailureShown }
  | { readonly kind: 'done'; readonly text?: string; undo?(): void }

interface Props {
  readonly outcome: Outcome
  /** The sentence after success, if the outcome has none of its own. */
  readonly done?: string
}

export function ActOutcome({ outcome, done }: Props) {
  if (outcome.kind === 'failed')
    return <Failed {...outcome.failure} title={`${texts.acts.failed} ${outcome.failure.title}`} />
  if (outcome.kind === 'changed') return <Notice severity="warning" title={texts.acts.changed} announced />
  return (
    <p role="status" className={styles.act}>
      <OutcomeText outcome={outcome} done={done} />
    </p>
  )
}

interface TextProps {
  readonly outcome: Exclude<Outcome, { readonly kind: 'failed' | 'changed' }>
  readonly done: string | undefined
}

function OutcomeText({ outcome, done }: TextProps) {
  switch (outcome.kind) {
    case 'running':
      return texts.acts.running
    case 'unknown':
      return (
        <>
          {texts.acts.unknown} <Small label={texts.acts.ask} onClick={outcome.again} />
        </>
      )
    case 'done':
      return outcome.text === undefined && done === undefined ? null : (
        <>
          {outcome.text ?? done}{' '}
          {outcome.undo === undefined ? null : <Small label={texts.acts.undo} onClick={outcome.undo} />}
        </>
      )
    default:
      return null
  }
}

const Small = ({ label, onClick }: { readonly label: string; onClick(): void }) => (
  <Button variant="default" size="compact-xs" onClick={onClick}>
    {label}
  </Button>
)
