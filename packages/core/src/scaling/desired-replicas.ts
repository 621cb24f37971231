// The number of replicas that a deployment desires: that of its scaling policy or, without one, that of its spec.

import type { DeploymentSpec, ScalingPolicy } from '@holdfast/contract'

/** The part of a deployment's record that the policy changes. */
export interface ScaledReplicas {
  readonly desired: number
}

interface Scalable {
  readonly spec: Pick<DeploymentSpec, 'replicas'>
  readonly deleting: boolean
  readonly scaling?: ScaledReplicas | undefined
}

/** A deployment that is being deleted or is stopped by `replicas: 0` desires none, whatever its policy. */
export function desiredReplicas({ spec, deleting, scaling }: Scalable): number {
  if (deleting || spec.replicas === 0) return 0
  return scaling?.desired ?? spec.replicas
}

/** A number of replicas within the bounds of the policy. */
export const boundedReplicas = (count: number, { min, max }: Pick<ScalingPolicy, 'min' | 'max'>): number =>
  Math.min(max, Math.max(min, count))

interface Scaled extends ScaledReplicas {
  readonly policy: ScalingPolicy
}

/** The policy's part of a record after an update of the spec. A stopped deployment starts again with the spec's number. */
export function scalingAfterUpdate<T extends Scaled>(
  scaling: T,
  before: Pick<DeploymentSpec, 'replicas'>,
  after: Pick<DeploymentSpec, 'replicas'>,
): T {
  const isStarted = before.replicas === 0 && after.replicas > 0
  return isStarted ? { ...scaling, desired: boundedReplicas(after.replicas, scaling.policy) } : scaling
}
