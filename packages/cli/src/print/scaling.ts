// A scaling policy in one line, and what it wants now.

import type { ScalingPolicy, ScalingStatus } from '@holdfast/contract'

/** `2 to 10 replicas at 60 % of the requested CPU, removed after 300s`. */
export const policyText = ({ min, max, metric, targetPercent, scaleDownDelay }: ScalingPolicy): string =>
  `${min} to ${max} replicas at ${targetPercent} % of the requested ${metric === 'cpu' ? 'CPU' : 'memory'}, removed after ${scaleDownDelay}`

export const scalingText = ({ reason, message }: Pick<ScalingStatus, 'reason' | 'message'>): string =>
  `${reason}: ${message}`
