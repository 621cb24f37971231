// Reads the rules of an update from the spec: order, parallelism, failure action and watch window. See
// docs/design/rollouts.md#update-strategy

import { type DeploymentSpec, durationMs, type HealthCheck } from '@holdfast/contract'
import { DEFAULT_RETRIES, probeIntervalMs, probeTimeoutMs } from '../node/container-settings.ts'
import type { UpdateRules } from './desired-rollout.ts'

/** The watch window of a deployment without a health check: long enough to observe that a container exits three times. */
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

/** The watch window: the longest time that the engine needs to report a container that was ready as unhealthy. */
function watchMs(check: HealthCheck | undefined): number {
  if (check === undefined) return UNCHECKED_WATCH_MS
  const { retries = DEFAULT_RETRIES, startPeriod } = check
  return (durationMs(startPeriod) ?? 0) + retries * (probeIntervalMs(check) + probeTimeoutMs(check))
}

/** Whether a deployment has a read-write mount, which two replicas must never have at once. */
export const isStateful = ({ volumes = [] }: Pick<DeploymentSpec, 'volumes'>): boolean =>
  volumes.some(({ type, readOnly }) => type !== 'tmpfs' && !readOnly)
