// The conditions that a deployment and its canary still wait for after a decision of a dry run, as sentences.

import { isActiveCanary } from '../../canary/advance-canary.ts'
import { canaryText } from '../../canary/canary-text.ts'
import { isCanaryReplica, stableAssignments } from '../../canary/split-assignments.ts'
import { dependencyText } from '../../rollout/dependency-gate.ts'
import { DEPENDENCY_UNHEALTHY } from '../../rollout/derive-status.ts'
import { isRunning } from '../find-displaced.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import type { PlacementRecord } from '../snapshot.ts'
import type { PlannedRecord } from './replica-courses.ts'

export function waitsText({
  refused,
  unmet,
  rollout,
  added,
}: Pick<PlacementPlan, 'refused' | 'unmet' | 'rollout' | 'added'>): string | undefined {
  if (unmet.length > 0) return dependencyText(unmet)
  if (refused === undefined) return undefined
  const missing = rollout.missing.slice(stableAssignments(added).length)
  const numbers = [...new Set(missing.map(({ replica }) => replica))]
  const which =
    numbers.length > 0
      ? `Without a node: replica ${numbers.join(', ')}.`
      : 'No other node accepts the replica that should move.'
  return `${which} ${refused.summary}`
}

/** Undefined if the canary waits for nothing, or is not planned yet. */
export function canaryWaitsText({
  canary,
  canaryRefused,
  awaited,
  next,
}: Pick<PlacementPlan, 'canary' | 'canaryRefused' | 'awaited' | 'next'>): string | undefined {
  if (canary === undefined || !isActiveCanary(canary) || canary.reason === '') return undefined
  if (canary.reason === DEPENDENCY_UNHEALTHY) return `The canary: ${dependencyText(awaited)}`
  if (canaryRefused === undefined) return canaryText(canary)
  const numbers = unplacedCanary(canary, next)
  const which =
    numbers.length > 0
      ? `Without a node: replica ${numbers.join(', ')} of the canary.`
      : 'No other node accepts the replica of the canary that should move.'
  return `${which} ${canaryRefused.summary}`
}

/** The numbers of the canary's replicas without a node. */
export function unplacedCanary(
  canary: PlannedRecord['canary'],
  placement: PlacementRecord | undefined,
): number[] {
  if (canary === undefined || !isActiveCanary(canary)) return []
  const running = (placement?.assignments ?? []).filter((each) => isCanaryReplica(each) && isRunning(each))
  const placed = new Set(running.map(({ replica }) => replica))
  return Array.from({ length: canary.replicas }, (_, at) => at + 1).filter((number) => !placed.has(number))
}
