// The rules of an update, as its spec says them: order, pace, what to do when it fails, and how long to watch it.
// DECISIONS 4 (update, Ready).

import { type DeploymentSpec, durationMs, type HealthCheck } from '@holdfast/contract'
import { DEFAULT_RETRIES, probeIntervalMs, probeTimeoutMs } from '../node/container-settings.ts'
import type { UpdateRules } from './desired-rollout.ts'

/** Without a check: long enough to see a third exit. */
const UNCHECKED_WATCH_MS = 15_000

export function updateRulesOf({
  update,
  healthCheck,
}: Pick<DeploymentSpec, 'update' | 'healthCheck'>): UpdateRules {
  const { order, parallelism, failureAction, progressDeadline } = update
  return {
    ...{ order, parallelism, failureAction, watchMs: watchMs(healthCheck) },
    progressDeadlineMs: durationMs(progressDeadline) ?? 0,
  }
}

/** As long as the engine may take to call a container unhealthy that was ready once. */
function watchMs(check: HealthCheck | undefined): number {
  if (check === undefined) return UNCHECKED_WATCH_MS
  const { retries = DEFAULT_RETRIES, startPeriod } = check
  return (durationMs(startPeriod) ?? 0) + retries * (probeIntervalMs(check) + probeTimeoutMs(check))
}

/** A mount that is written to: two replicas of one number may never have it at once. */
export const isStateful = ({ volumes = [] }: Pick<DeploymentSpec, 'volumes'>): boolean =>
  volumes.some(({ type, readOnly }) => type !== 'tmpfs' && !readOnly)
