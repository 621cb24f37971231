// The next step of a planned handover. The last checkpoint is taken after the last writer is gone, and the primary
// releases its role only when its successor has acknowledged exactly that checkpoint.

import type { VolumeCheckpoint } from '@holdfast/contract'
import { includesCheckpoint } from './checkpoints.ts'
import { isClean, newestTaken, type PrimaryFacts } from './plan-checkpoint.ts'

export interface HandoverFacts extends PrimaryFacts {
  /** Whether a writer may still run; true if that could not be observed. Observed before the flush. */
  readonly isWritten: boolean
  /** The complete checkpoints of the successor; undefined if it has not answered. */
  readonly held: readonly VolumeCheckpoint[] | undefined
}

/** `replicate`: continue as usual. `abdicate`: note that this node no longer writes, then report it. */
export type HandoverStep =
  | { readonly kind: 'replicate' }
  | { readonly kind: 'take' }
  | { readonly kind: 'send' }
  | { readonly kind: 'abdicate'; readonly checkpoint: VolumeCheckpoint }

export function planHandover(facts: HandoverFacts): HandoverStep {
  const newest = newestTaken(facts)
  if (facts.isWritten) return { kind: 'replicate' }
  if (newest === undefined || !isClean(facts)) return { kind: 'take' }
  if (facts.held === undefined || !includesCheckpoint(facts.held, newest)) return { kind: 'send' }
  return { kind: 'abdicate', checkpoint: { epoch: newest.epoch, number: newest.number } }
}
