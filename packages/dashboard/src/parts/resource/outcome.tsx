// The outcome of a change inside of its dialog: every rejection of the server, or that no answer arrived.

import type { Rejection } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'
import { ActOutcome } from '../act-outcome.tsx'
import { Failed } from '../failed.tsx'

export interface FailedText {
  readonly title: string
  readonly detail?: string | undefined
  readonly next?: string | undefined
  readonly rejections: readonly Rejection[]
}

export type DialogOutcome =
  | { readonly kind: 'idle' | 'running' | 'done' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly failure: FailedText }

export function OutcomeLine({ outcome }: { readonly outcome: DialogOutcome }) {
  if (outcome.kind === 'failed') return <Failed {...outcome.failure} title={failedTitle(outcome.failure)} />
  return outcome.kind === 'unknown' ? <ActOutcome outcome={outcome} /> : null
}

const failedTitle = ({ title }: FailedText): string => `${texts.acts.failed} ${title}`
