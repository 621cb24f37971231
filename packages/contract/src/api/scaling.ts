// Scaling policies: the body that clients send and the record that the API returns, with what the policy wants and why it
// does not act.

import {
  branded,
  duration,
  field,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { scalingTexts } from '../texts/scaling-texts.ts'
import { alterationShape, warningShape } from './rejection.ts'

export const SCALING_METRICS = ['cpu', 'memory'] as const
export type ScalingMetric = (typeof SCALING_METRICS)[number]

/**
 * Why the policy changes the number of replicas, or leaves it: the first two change it, `steady`, `at_min` and `at_max`
 * need no change, and the others explain what the policy waits for.
 */
export const SCALING_REASONS = [
  'scale_up',
  'scale_down',
  'steady',
  'at_min',
  'at_max',
  'scale_down_delay',
  'no_samples',
  'not_ready',
  'no_request',
  'unplaced',
  'quota',
  'rollout',
  'rollout_paused',
  'drain',
  'stopped',
] as const
export type ScalingReason = (typeof SCALING_REASONS)[number]

/** The body of PUT /deployments/{name}/scaling. */
export const sentScalingShape = object({
  min: field(scalingTexts.min, optional(integer())),
  max: field(scalingTexts.max, optional(integer())),
  metric: field(scalingTexts.metric, optional(string())),
  targetPercent: field(scalingTexts.targetPercent, optional(integer())),
  scaleDownDelay: field(scalingTexts.scaleDownDelay, optional(duration())),
})

export const scalingPolicyShape = object({
  min: integer(),
  max: integer(),
  metric: oneOf(SCALING_METRICS),
  targetPercent: integer(),
  scaleDownDelay: duration(),
})
export type ScalingPolicy = Infer<typeof scalingPolicyShape>

/** The usage that the policy measures and the number that it wants, at one moment. */
export const scalingStatusShape = object({
  desired: integer({ description: 'Number of replicas that the deployment desires now' }),
  wanted: nullable(
    integer({ description: 'Number of replicas for the present usage, within min and max; null if unknown' }),
  ),
  measuredPercent: nullable(
    integer({
      description: 'Mean of the last minute per ready replica, in percent of the request; null if unknown',
    }),
  ),
  ready: integer({ description: 'Number of ready replicas' }),
  measured: integer({ description: 'Number of ready replicas with a sample of the last minute' }),
  unreachable: list(string({ description: 'Name of a node whose usage is unknown' })),
  reason: branded<ScalingReason>({ description: 'Why, in one word; newer servers may know other words' }),
  message: string({ description: 'What the policy wants and why it does not act, for people' }),
  scaledAt: nullable(string({ description: 'When the policy last changed the number of replicas' })),
})
export type ScalingStatus = Infer<typeof scalingStatusShape>

export const scalingShape = object({
  deploymentName: string(),
  ...scalingPolicyShape.fields,
  revision: integer(),
  createdAt: string(),
  updatedAt: string(),
  status: scalingStatusShape,
})
export type Scaling = Infer<typeof scalingShape>

export const writtenScalingShape = object({
  scaling: scalingShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})
export type WrittenScaling = Infer<typeof writtenScalingShape>
