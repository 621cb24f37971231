// The marks of a stored revision: whether it is the latest, runs, is the last good one, or failed.

import type { Decision, DeploymentStatus } from '@holdfast/contract'

export type RevisionMark = 'latest' | 'running' | 'lastGood' | 'failed'

interface Known {
  readonly latest: number | undefined
  /** Absent for the past, of which no status is kept. */
  readonly status?: Pick<DeploymentStatus, 'runningRevision' | 'lastGoodRevision' | 'failure'> | undefined
  /** Newest first. */
  readonly decisions: readonly Decision[]
}

export function marksOf(revision: number, { latest, status, decisions }: Known): RevisionMark[] {
  const applies: { readonly [mark in RevisionMark]: boolean } = {
    latest: revision === latest,
    failed: revision === status?.failure?.revision || hasFailed(revision, decisions),
    running: revision === status?.runningRevision,
    lastGood: revision === status?.lastGoodRevision,
  }
  return MARKS.filter((mark) => applies[mark])
}

const MARKS: readonly RevisionMark[] = ['latest', 'failed', 'running', 'lastGood']

/** The reasons of a phase after a failed update, which lasts until another revision is stored. */
const FAILED = new Set(['update_paused', 'rollback'])

/** Whether the last decision about a revision was that its update failed. */
function hasFailed(revision: number, decisions: readonly Decision[]): boolean {
  const last = decisions.find((decision) => decision.revision === revision)
  return last !== undefined && FAILED.has(last.reason)
}
