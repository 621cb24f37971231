// The words of a job for people: its phase, the attempts, how long it ran and how it ended.

import type { JobRecord, JobStatus } from '@holdfast/contract'
import { age } from './age.ts'

/** `running`, or `pending (unschedulable)`. */
export const jobPhase = ({ phase, reason }: Pick<JobStatus, 'phase' | 'reason'>): string =>
  reason === '' ? phase : `${phase} (${reason})`

/** `2 of 4`: the attempts so far, and how many there may be. */
export const attemptsText = ({ status, retries }: Pick<JobRecord, 'status' | 'retries'>): string =>
  `${status.attempts} of ${retries + 1}`

/** How long the last attempt has run; `-` before it started. */
export const durationText = ({ startedAt, finishedAt }: JobStatus, nowMs: number): string =>
  age(startedAt, finishedAt === null ? nowMs : Date.parse(finishedAt))

/** One line about the present state, for progress: `migrate: pending (unschedulable): no node fits`. */
export function progressText({ name, status, retries }: JobRecord): string {
  const where = status.nodeName === null || status.phase !== 'running' ? '' : ` on ${status.nodeName}`
  const attempt = status.attempts > 1 ? `, attempt ${status.attempts} of ${retries + 1}` : ''
  const message = status.message === '' ? '' : `: ${status.message}`
  return `${name}: ${jobPhase(status)}${where}${attempt}${message}`
}

/** How a job ended, as the end of a sentence: `succeeded`, `failed with exit code 3 after 2 attempts`. */
export function outcomeText({ status }: Pick<JobRecord, 'status'>): string {
  const { phase, reason, exitCode, attempts } = status
  if (phase !== 'failed') return phase
  const how = exitCode === null ? ` (${reason})` : ` with exit code ${exitCode}`
  const why = exitCode !== null && reason !== '' && reason !== 'exited' ? ` (${reason})` : ''
  return `failed${how}${why}${attempts > 1 ? ` after ${attempts} attempts` : ''}`
}
