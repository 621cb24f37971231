// The rules of canaries that need the state of the deployment: when one may start, be promoted or be aborted.

import {
  type CanaryProgress,
  canaryTexts,
  type DeploymentSpec,
  type Json,
  MAX_CANARY_WEIGHT,
  type Rejection,
} from '@holdfast/contract'
import { reject } from '../reject.ts'
import { isStateful } from '../rollout/plan-rollout-rules.ts'
import { isActiveCanary } from './advance-canary.ts'

export const CANARY_DEFAULTS = {
  observe: canaryTexts.observe.default,
  observeMinMs: 1000,
  observeMaxMs: 24 * 3_600_000,
}

export function checkCanaryWeight(weight: Json): Rejection | undefined {
  return typeof weight === 'number' && weight >= 1 && weight <= MAX_CANARY_WEIGHT
    ? undefined
    : reject('field_type_invalid', 'weight', weight, {
        accepted: `a whole number from 1 to ${MAX_CANARY_WEIGHT}`,
      })
}

/** `checkCanaryStart` checks the highest number, which depends on the deployment. */
export function checkCanaryReplicas(replicas: Json): Rejection | undefined {
  return typeof replicas === 'number' && replicas >= 1
    ? undefined
    : reject('field_type_invalid', 'replicas', replicas, { accepted: 'a whole number of at least 1' })
}

export interface CanaryStart {
  readonly replicas: number
  /** The number of replicas that the deployment desires: that of its scaling policy or of its spec. */
  readonly own: number
  /** The canary in the record of the deployment. */
  readonly running: CanaryProgress | undefined
  /** The last rollout of the deployment: one that has not ended, that is ready but still watched, or that failed. */
  readonly rollout: 'none' | 'under_way' | 'watched' | 'failed'
  /** Whether the change leaves the deployment as it is. */
  readonly isUnchanged: boolean
  /** The spec of the deployment, and the same with the change. */
  readonly specs: readonly DeploymentSpec[]
}

const WAITS = {
  under_way: { accepted: 'start, after the rollout', reason: 'the deployment is being rolled out' },
  watched: {
    accepted: 'start, after the watch window',
    reason:
      'the last update is ready, but its watch window, in which a failure would still end it, is not over',
  },
  failed: { accepted: 'start, after a revision that runs', reason: 'its last update failed' },
}

/** All reasons against a new canary. */
export function checkCanaryStart(start: CanaryStart): Rejection[] {
  const { replicas, own, running, rollout, isUnchanged, specs } = start
  const rejections: Rejection[] = []
  if (own === 0) return [invalid('none', 'none', 'the deployment is stopped')]
  if (replicas > own) {
    const accepted = `a whole number from 1 to ${own}, the replicas of the deployment`
    rejections.push(reject('field_type_invalid', 'replicas', replicas, { accepted }))
  }
  if (running !== undefined && isActiveCanary(running))
    rejections.push(invalid(running.phase, 'promote, abort', 'a canary runs already'))
  else if (rollout !== 'none')
    rejections.push(invalid('none', WAITS[rollout].accepted, WAITS[rollout].reason))
  if (isUnchanged)
    rejections.push(invalid('none', 'start, with another change', 'the deployment is like that already'))
  if (specs.some(isStateful))
    rejections.push(
      invalid(
        'none',
        'none',
        'the deployment mounts a volume read-write, and only one container may write to it',
      ),
    )
  return rejections
}

/** Rejects a step of a canary that does not run. */
export function checkCanaryRuns(canary: CanaryProgress | undefined): Rejection[] {
  return isActiveCanary(canary) ? [] : [invalid(canary?.phase ?? 'none', 'start', 'no canary runs')]
}

export function checkCanaryPromotion(canary: CanaryProgress | undefined, force: boolean): Rejection[] {
  const idle = checkCanaryRuns(canary)
  if (idle.length > 0 || force || canary?.phase === 'ready') return idle
  return [invalid(canary?.phase ?? 'none', 'abort, promote with force', 'its observation has not ended')]
}

const invalid = (phase: string, accepted: string, reason: string): Rejection =>
  reject('canary_state_invalid', 'canary', phase, { accepted, reason })
