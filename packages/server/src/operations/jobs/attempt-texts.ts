// How an attempt of a job ended, in words, for events and the status.

import type { StoredJob } from '../../store/records.ts'

const HOW: { readonly [reason: string]: string } = {
  oom_killed: 'its container used more memory than it may',
  timed_out: 'it took longer than its timeout',
  node_removed: 'its node was removed before the end of its container was reported',
  node_lost: 'its node was lost',
  container_lost: 'the end of its container was not seen',
  image_pull_failed: 'its image could not be pulled',
  image_unresolved: 'no registry resolved its image in time',
  create_failed: 'the engine could not create its container',
  start_failed: 'the engine could not start its container',
  refused_by_agent: 'the agent refused its container',
}

/** A clause without a full stop. */
export function howItEnded({ reason, exitCode }: Pick<StoredJob, 'reason' | 'exitCode'>): string {
  if (reason === 'exited') return `its container ended with exit code ${exitCode}`
  return HOW[reason] ?? reason
}

/** The end of the attempt with the given number. A lost attempt has not failed: its end is not known. */
export const attemptText = (attempt: number, previous: Pick<StoredJob, 'reason' | 'exitCode'>): string =>
  `Attempt ${attempt} ${previous.reason === 'node_lost' ? 'was abandoned' : 'failed'}: ${howItEnded(previous)}`
