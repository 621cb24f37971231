// The rules of an update from its spec: order, parallelism, what happens when it fails, and the watch window.
// See docs/design/rollouts.md#update-strategy

import { type DeploymentSpec, durationMs, type HealthCheck } from '@holdfast/contract'
import { DEFAULT_RETRIES, probeIntervalMs, probeTimeoutMs } from '../node/container-settings.ts'
import type { UpdateRules } from './desired-rollout.ts'

/** The watch window without a health check: long enough to observe a third exit. */
const UNCHECKED_WATCH_MS = 15_000

export function updateRulesOf({
  update,
  healthCheck,
}: Pick<DeploymentSpec, 'update' | 'healthCheck'>): UpdateRules {
  const { order, parallelism, failureAction, progressDeadline } = update
  return {
    order,
    parallelism,
    failureAction,
    watchMs: watchMs(healthCheck),
    progressDeadlineMs: durationMs(progressDeadline) ?? 0,
  }
}

/** The longest time that the engine needs to report a container as unhealthy that was ready once. */
function watchMs(check: HealthCheck | undefined): number {
  if (check === undefined) return UNCHECKED_WATCH_MS
  const { retries = DEFAULT_RETRIES, startPeriod } = check
  return (durationMs(startPeriod) ?? 0) + retries * (probeIntervalMs(check) + probeTimeoutMs(check))
}

/** Whether a mount is read-write: two replicas of one number must never have it at once. */
export const isStateful = ({ volumes = [] }: Pick<DeploymentSpec, 'volumes'>): boolean =>
  volumes.some(({ type, readOnly }) => type !== 'tmpfs' && !readOnly)
