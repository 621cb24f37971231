// Decides how many replicas a deployment with a scaling policy desires, from the mean usage of the last minute. A pure
// function that runs every 30 s. Unknown usage leaves the number as it is. See docs/design/scaling.md

import { durationMs, type ScalingPolicy, type ScalingReason } from '@holdfast/contract'
import { boundedReplicas } from './desired-replicas.ts'
import { addValue, agreedReplicas, EMPTY_WINDOW, type ScalingWindow } from './scaling-window.ts'

/** No change while the usage differs from the target by at most a tenth of the target. */
const TOLERANCE_DIVISOR = 10
/** A step may add this many replicas even if that is more than doubling. */
const LEAST_STEP = 4

export interface ScalingFacts {
  /** The number of replicas that the policy desires now. */
  readonly desired: number
  /** True if the spec has `replicas: 0` or the deployment is being deleted. */
  readonly isStopped: boolean
  readonly ready: number
  /** Number of ready replicas with a sample of the last minute. */
  readonly measured: number
  /** Mean of the last minute per measured replica, in the unit of the request; undefined if there is no sample. */
  readonly usage: number | undefined
  /** The amount that each replica requests; 0 if the deployment requests none. */
  readonly request: number
  readonly rollout: 'none' | 'under_way' | 'paused'
  /** Whether a replica is on a node that is being drained. */
  readonly isDraining: boolean
  /** Number of desired replicas without a node. */
  readonly unplaced: number
  /** Number of further containers that the tenant's quota allows. */
  readonly room: number
}

export interface ScalingDecision {
  readonly desired: number
  /** The number for the present usage, within the bounds of the policy; null if it is unknown. */
  readonly wanted: number | null
  readonly measuredPercent: number | null
  readonly reason: ScalingReason
}

export interface ScalingStep {
  readonly decision: ScalingDecision
  readonly window: ScalingWindow
}

/** `now` is a monotonic time in milliseconds. */
export function decideScaling(
  policy: ScalingPolicy,
  facts: ScalingFacts,
  window: ScalingWindow,
  now: number,
): ScalingStep {
  const { desired } = facts
  const load = measureLoad(policy, facts)
  if (load.kind === 'unknown') {
    const { reason, measuredPercent } = load
    return { decision: { desired, wanted: null, measuredPercent, reason }, window: EMPTY_WINDOW }
  }
  const { wanted, measuredPercent } = load
  const delayMs = durationMs(policy.scaleDownDelay) ?? 0
  // A replica that is being replaced or moved uses little, so the delay begins again after it.
  const isMoving = facts.rollout !== 'none' || facts.isDraining
  const next = isMoving ? EMPTY_WINDOW : addValue(window, { at: now, wanted }, delayMs)
  const step = stepTo(facts, load, agreedReplicas(next, now, delayMs))
  return { decision: { wanted, measuredPercent, ...step }, window: next }
}

interface KnownLoad {
  readonly kind: 'known'
  readonly measuredPercent: number
  readonly wanted: number
  /** Why the number is right, if it equals the desired one. */
  readonly reason: 'steady' | 'at_min' | 'at_max'
}

interface UnknownLoad {
  readonly kind: 'unknown'
  readonly measuredPercent: number | null
  readonly reason: ScalingReason
}

function measureLoad(policy: ScalingPolicy, facts: ScalingFacts): KnownLoad | UnknownLoad {
  const { isStopped, ready, measured, usage, request } = facts
  const unknown = (reason: ScalingReason): UnknownLoad => ({ kind: 'unknown', measuredPercent: null, reason })
  if (isStopped) return unknown('stopped')
  if (request === 0) return unknown('no_request')
  if (ready === 0) return unknown('not_ready')
  if (usage === undefined || 2 * measured <= ready) return unknown('no_samples')
  const exact = replicasFor(policy, facts, usage)
  const wanted = boundedReplicas(exact, policy)
  const measuredPercent = Math.round((100 * usage) / request)
  const beyond = exact > wanted ? 'at_max' : 'at_min'
  return { kind: 'known', measuredPercent, wanted, reason: exact === wanted ? 'steady' : beyond }
}

/** The number of replicas that would use the target on average, or the desired number within the tolerance. */
function replicasFor(
  { targetPercent }: ScalingPolicy,
  { desired, ready, request }: ScalingFacts,
  usage: number,
): number {
  // Both sides are whole numbers, hundredths of the request, so that no rounding moves a boundary.
  const used = 100 * usage
  const target = targetPercent * request
  if (TOLERANCE_DIVISOR * Math.abs(used - target) <= target) return desired
  return Math.ceil((ready * used) / target)
}

type Step = Pick<ScalingDecision, 'desired' | 'reason'>

function stepTo(facts: ScalingFacts, { wanted, reason }: KnownLoad, agreed: number | undefined): Step {
  const { desired } = facts
  if (wanted > desired) return stepUp(facts, wanted)
  if (wanted < desired) return stepDown(facts, agreed)
  return { desired, reason }
}

function stepUp({ desired, rollout, unplaced, room }: ScalingFacts, wanted: number): Step {
  if (rollout !== 'none') return { desired, reason: rolloutReason(rollout) }
  if (unplaced > 0) return { desired, reason: 'unplaced' }
  const most = Math.max(2 * desired, desired + LEAST_STEP)
  const next = Math.min(wanted, most, desired + Math.max(0, room))
  return next > desired ? { desired: next, reason: 'scale_up' } : { desired, reason: 'quota' }
}

function stepDown({ desired, rollout, isDraining }: ScalingFacts, agreed: number | undefined): Step {
  if (rollout !== 'none') return { desired, reason: rolloutReason(rollout) }
  if (isDraining) return { desired, reason: 'drain' }
  if (agreed === undefined || agreed >= desired) return { desired, reason: 'scale_down_delay' }
  return { desired: agreed, reason: 'scale_down' }
}

const rolloutReason = (rollout: 'under_way' | 'paused'): ScalingReason =>
  rollout === 'paused' ? 'rollout_paused' : 'rollout'
