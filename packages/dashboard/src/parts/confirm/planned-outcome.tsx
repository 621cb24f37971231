// The outcome of a change that was planned before: done, refused, unknown, or not sent because its plan has changed.

import type { Rejection } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'
import { ActOutcome } from '../act-outcome.tsx'
import { Failed } from '../failed.tsx'
import { Notice } from '../notice.tsx'

type State =
  | { readonly kind: 'idle' | 'running' | 'done' | 'changed' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'unknown'; again(): void }

interface Props {
  readonly state: State
  /** The sentence after success. */
  readonly done: string
  /** Puts a failure into words. */
  explain(error: Error): { readonly title: string; readonly rejections: readonly Rejection[] }
}

export function PlannedOutcome({ state, done, explain }: Props) {
  switch (state.kind) {
    case 'changed':
      return <Notice severity="warning" title={texts.confirm.changed} announced />
    case 'failed':
      return <Failed {...explain(state.error)} />
    case 'done':
      return <ActOutcome outcome={{ kind: 'done', text: done }} />
    case 'unknown':
      return <ActOutcome outcome={state} />
    default:
      return <ActOutcome outcome={{ kind: state.kind }} />
  }
}
