// Decides the next state of a job from its record, its attempts and the time: which attempts stop and leave, whether the
// job ends, and whether another attempt may start. A pure function. See docs/design/jobs.md#attempts

import {
  type Assignment,
  type AssignmentId,
  durationMs,
  isFinalPhase,
  type JobPhase,
  type JobSpec,
  type NodeId,
  type Observation,
} from '@holdfast/contract'
import { type AttemptEnd, type AttemptFacts, attemptEnd, isEndKnown } from './attempt-end.ts'
import { retryDelayMs } from './retry-delay.ts'

/** The part of a job's record that changes. */
export interface JobState {
  readonly phase: JobPhase
  readonly reason: string
  /** Whether a client has cancelled the job. */
  readonly cancelled: boolean
  /** The assignment of the attempt that runs; undefined between attempts and after the end. */
  readonly current?: AssignmentId | undefined
  readonly attempts: number
  /** The attempts that failed; attempts that ended with their node do not count. */
  readonly failures: number
  /** How the last attempt that has ended did so; undefined before. */
  readonly previous?: PreviousAttempt | undefined
  readonly retryAt?: string | undefined
  /** When the attempt is stopped because its time is over. */
  readonly deadlineAt?: string | undefined
  readonly nodeId: NodeId | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly exitCode: number | null
}

export interface PreviousAttempt {
  readonly reason: string
  readonly exitCode: number | null
}

export interface JobSituation {
  readonly spec: Pick<JobSpec, 'timeout' | 'retries' | 'onNodeLoss'>
  readonly assignments: readonly Assignment[]
  readonly factsOf: (assignment: Assignment) => AttemptFacts
  /** When the job was created, in milliseconds since 1970. */
  readonly createdAt: number
  /** Whether the digest of the image is known. */
  readonly isResolved: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface NextJob {
  readonly state: JobState
  /** The assignments to keep, with their desired states. Those of containers that are gone are left out. */
  readonly assignments: readonly Assignment[]
  /** Another attempt may start now, if a node accepts it. */
  readonly mayStart: boolean
  /** When to decide again, in milliseconds since 1970; undefined if only a change can matter. */
  readonly wakeAt: number | undefined
}

export function nextJob(before: JobState, situation: JobSituation): NextJob {
  const others = leaveFormer(situation, before.current)
  const current = situation.assignments.find(({ id }) => id === before.current)
  if (isFinalPhase(before.phase)) return settled(before, others)
  if (current === undefined) return betweenAttempts({ ...before, current: undefined }, situation, others)
  const facts = situation.factsOf(current)
  const end = attemptEnd(facts, before.cancelled ? 'wait' : situation.spec.onNodeLoss)
  if (end === undefined) return running(before, situation, current, others)
  const kept = [...others, ...leaveFormer({ ...situation, assignments: [current] }, undefined)]
  // A short attempt may have ended before it was reported to run.
  const startedAt = startOf(before, facts.seen, situation.now)
  const after = endAttempt({ ...before, startedAt }, situation, current, end)
  return isFinalPhase(after.phase) ? settled(after, kept) : betweenAttempts(after, situation, kept)
}

const settled = (state: JobState, assignments: readonly Assignment[]): NextJob => ({
  state,
  assignments,
  mayStart: false,
  wakeAt: undefined,
})

/** The containers of former attempts are removed, and leave the placement once they are gone or their node is. */
function leaveFormer(
  { assignments, factsOf }: Pick<JobSituation, 'assignments' | 'factsOf'>,
  current: AssignmentId | undefined,
): Assignment[] {
  return assignments.flatMap((each) => {
    if (each.id === current) return []
    const { seen, node } = factsOf(each)
    if (seen?.gone === true || node === 'absent') return []
    return [each.desired === 'removed' ? each : { ...each, desired: 'removed' as const }]
  })
}

function running(
  before: JobState,
  { spec, factsOf, now }: JobSituation,
  current: Assignment,
  others: readonly Assignment[],
): NextJob {
  const { seen, node } = factsOf(current)
  const startedAt = startOf(before, seen, now)
  const isFirstSight = before.startedAt === null && startedAt !== null
  // The timeout begins when the container runs, by the clock of the server; before, the time to start it is limited.
  const deadline = isFirstSight ? now + timeoutOf(spec) : Date.parse(before.deadlineAt ?? current.assignedAt)
  const mustStop = before.cancelled || now >= deadline
  const desired = mustStop ? 'stopped' : current.desired
  return {
    state: {
      ...before,
      phase: startedAt === null ? 'pending' : 'running',
      reason: reasonNow(before, seen, node === 'failed', mustStop),
      startedAt,
      deadlineAt: new Date(deadline).toISOString(),
    },
    assignments: [...others, desired === current.desired ? current : { ...current, desired }],
    mayStart: false,
    wakeAt: mustStop ? undefined : deadline,
  }
}

/**
 * When the container of the attempt started, with the milliseconds of all stored times: engines report nanoseconds. A text
 * that is no time is replaced by the time of the server.
 */
function startOf(
  { startedAt }: Pick<JobState, 'startedAt'>,
  seen: Observation | undefined,
  now: number,
): string | null {
  if (startedAt !== null || seen === undefined || seen.startedAt === null) return startedAt
  const ms = Date.parse(seen.startedAt)
  return new Date(Number.isNaN(ms) ? now : ms).toISOString()
}

function reasonNow(
  { cancelled }: JobState,
  seen: Observation | undefined,
  isLost: boolean,
  mustStop: boolean,
): string {
  if (isLost) return 'node_lost'
  if (mustStop) return cancelled ? 'cancelling' : TIMED_OUT
  return seen?.reason ?? ''
}

const TIMED_OUT = 'timed_out'
const UNRESOLVED = 'image_unresolved'
const timeoutOf = ({ timeout }: Pick<JobSpec, 'timeout'>): number => durationMs(timeout) ?? 0

/** Pulling a large image takes minutes and is not the work of the job, so a short timeout must not end it. */
const LEAST_START_MS = 15 * 60_000

/** The time from the assignment of an attempt in which its container must run. */
export const startTimeoutOf = (spec: Pick<JobSpec, 'timeout'>): number =>
  Math.max(timeoutOf(spec), LEAST_START_MS)

function endAttempt(
  before: JobState,
  { spec, now }: JobSituation,
  { desired }: Assignment,
  end: AttemptEnd,
): JobState {
  const ended: JobState = {
    ...before,
    current: undefined,
    deadlineAt: undefined,
    exitCode: end.exitCode,
    reason: end.reason,
    previous: { reason: end.reason, exitCode: end.exitCode },
  }
  // The clock of the server decides, because how long the job is kept must not depend on the clock of a machine.
  const finishedAt = new Date(now).toISOString()
  const finish = (phase: JobPhase, reason: string): JobState => ({ ...ended, phase, reason, finishedAt })
  if (before.cancelled) return ended
  // Only the end of its time stops an attempt of a job that is not cancelled. A container that had ended before, while its
  // node was not connected, was not stopped.
  const wasStopped = desired !== 'running' && !end.isOwnEnd
  if (end.exitCode === 0 && !wasStopped) return finish('succeeded', '')
  const retryAfter = (count: number): string => new Date(now + retryDelayMs(count)).toISOString()
  // Lost attempts do not use up retries, so only the delay keeps a job that kills its nodes from doing it at once.
  if (end.isLost)
    return {
      ...ended,
      phase: 'pending',
      startedAt: null,
      retryAt: retryAfter(before.attempts - before.failures),
    }
  const reason = wasStopped && end.reason !== 'node_removed' ? TIMED_OUT : end.reason
  const failures = before.failures + 1
  const previous = { reason, exitCode: end.exitCode }
  if (failures > spec.retries) return { ...finish('failed', reason), failures }
  return {
    ...ended,
    phase: 'pending',
    reason,
    failures,
    previous,
    retryAt: retryAfter(failures),
    startedAt: null,
  }
}

function betweenAttempts(before: JobState, situation: JobSituation, others: readonly Assignment[]): NextJob {
  const { now, factsOf } = situation
  const waits = (reason: string, wakeAt?: number): NextJob => ({
    state: { ...before, phase: 'pending', reason },
    assignments: others,
    mayStart: false,
    wakeAt,
  })
  const open = others.map(factsOf).filter((facts) => !isEndKnown(facts))
  if (before.cancelled)
    return open.some(({ node }) => node !== 'failed')
      ? waits('cancelling')
      : settled(cancelledState(before, now, open.length > 0), others)
  const retryMs = before.retryAt === undefined ? now : Date.parse(before.retryAt)
  if (retryMs > now) return waits('backoff', retryMs)
  if (others.some((each) => mayRun(each, situation))) return waits('stopping')
  if (!situation.isResolved) {
    const deadline = situation.createdAt + startTimeoutOf(situation.spec)
    if (now < deadline) return waits(UNRESOLVED, deadline)
    const finishedAt = new Date(now).toISOString()
    return settled({ ...before, phase: 'failed', reason: UNRESOLVED, finishedAt }, others)
  }
  return { state: { ...before, phase: 'pending' }, assignments: others, mayStart: true, wakeAt: undefined }
}

/** `mayRun`: a container of a former attempt may still run on a lost node. */
function cancelledState(before: JobState, now: number, mayRun: boolean): JobState {
  const reason = mayRun || before.previous?.reason === 'node_removed' ? 'unconfirmed' : ''
  const finishedAt = new Date(now).toISOString()
  return { ...before, phase: 'cancelled', reason, finishedAt, retryAt: undefined }
}

/** Whether the container of a former attempt keeps the next one from starting: two must never run at once. */
function mayRun(assignment: Assignment, { factsOf, spec }: JobSituation): boolean {
  const facts = factsOf(assignment)
  if (facts.node !== 'failed') return true
  return spec.onNodeLoss === 'wait' && !isEndKnown(facts)
}

/** The state of a job whose next attempt was assigned to a node. */
export const startAttempt = (
  before: JobState,
  assignment: Pick<Assignment, 'id' | 'nodeId'>,
  deadlineMs: number,
): JobState => ({
  ...before,
  phase: 'pending',
  reason: '',
  current: assignment.id,
  attempts: before.attempts + 1,
  retryAt: undefined,
  deadlineAt: new Date(deadlineMs).toISOString(),
  nodeId: assignment.nodeId,
  startedAt: null,
  exitCode: null,
})
