// Advances the state of a canary: its replicas become ready, are observed, and pass; or one of them fails, which aborts the
// canary. A pure function of the stored state, the observations and the time. See docs/design/canaries.md#phases

import { type CanaryFailure, type CanaryProgress, durationMs } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'

/** A failure of a replica, without the time at which it was found. */
export type FoundCanaryFailure = Omit<CanaryFailure, 'at'>

export interface CanaryFacts {
  /** The replica numbers of the canary that serve. */
  readonly ready: number
  /** The first replica that failed; undefined if none did. */
  readonly failure: FoundCanaryFailure | undefined
  /** Why a replica of the canary cannot be created: no node, an unresolved image or a dependency; empty if it can. */
  readonly waits: string
  /** The lowest replica number that does not serve; 0 if all do. */
  readonly unready: number
  /** How long the canary may take until all its replicas serve. */
  readonly deadlineMs: number
  /** Time before which nothing is overdue, because a new controller may lack reports. */
  readonly graceUntil: number
  /** True while a dependency is not ready; that time does not count towards the deadline. */
  readonly gated: boolean
}

export function advanceCanary<T extends CanaryProgress>(before: T, facts: CanaryFacts, now: number): T {
  if (before.phase === 'aborted') return before
  if (facts.failure !== undefined) return abortCanary(before, facts.failure.reason, now, facts.failure)
  const state = withoutFutureTime(before, now)
  switch (state.phase) {
    case 'progressing':
      return advanceProgress(state, facts, now)
    case 'observing':
      // A replica that is being replaced, for example after the loss of its node, was not observed with the others.
      if (facts.ready < state.replicas) return inPhase(state, 'progressing', now, facts.waits)
      return now >= endOfObservation(state) ? inPhase(state, 'ready', now) : state
    default:
      return state
  }
}

function advanceProgress<T extends CanaryProgress>(before: T, facts: CanaryFacts, now: number): T {
  const state = afterGate(before, facts, now)
  if (facts.ready >= state.replicas) return inPhase(state, 'observing', now)
  if (!facts.gated && now >= deadlineOf(state, facts)) {
    const reason = facts.waits === '' ? 'progress_deadline' : facts.waits
    return abortCanary(state, reason, now, { replica: facts.unready, reason })
  }
  return state.reason === facts.waits ? state : { ...state, reason: facts.waits }
}

/** The time at the gate of a dependency does not count towards the deadline, so it starts again when the gate opens. */
function afterGate<T extends CanaryProgress>(state: T, { gated }: CanaryFacts, now: number): T {
  if (gated || state.reason !== DEPENDENCY_UNHEALTHY) return state
  return { ...state, since: new Date(now).toISOString() }
}

/** The canary after its end. `failure` is absent if no replica failed. */
export function abortCanary<T extends CanaryProgress>(
  state: T,
  reason: string,
  now: number,
  failure?: FoundCanaryFailure,
): T {
  const at = new Date(now).toISOString()
  const failures = failure === undefined ? state.failures : [...state.failures, { ...failure, at }]
  return { ...state, phase: 'aborted', reason, since: at, failures }
}

/** When the state must be advanced again even if nothing changes, in milliseconds since 1970; undefined: never. */
export function canaryReplanAt(
  state: CanaryProgress,
  facts: Pick<CanaryFacts, 'deadlineMs' | 'graceUntil'>,
): number | undefined {
  if (state.phase === 'observing') return endOfObservation(state)
  return state.phase === 'progressing' ? deadlineOf(state, facts) : undefined
}

export const isActiveCanary = (canary: Pick<CanaryProgress, 'phase'> | undefined): boolean =>
  canary !== undefined && canary.phase !== 'aborted'

function inPhase<T extends CanaryProgress>(
  state: T,
  phase: CanaryProgress['phase'],
  now: number,
  reason = '',
): T {
  return { ...state, phase, reason, since: new Date(now).toISOString() }
}

/** A clock that was set back must not prolong a phase by the difference. */
function withoutFutureTime<T extends CanaryProgress>(state: T, now: number): T {
  return Date.parse(state.since) > now ? { ...state, since: new Date(now).toISOString() } : state
}

const endOfObservation = ({ since, observe }: CanaryProgress): number =>
  Date.parse(since) + (durationMs(observe) ?? 0)

const deadlineOf = (
  { since }: CanaryProgress,
  { deadlineMs, graceUntil }: Pick<CanaryFacts, 'deadlineMs' | 'graceUntil'>,
): number => Math.max(Date.parse(since) + deadlineMs, graceUntil)
