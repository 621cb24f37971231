// Recommendations for volumes: computed from the current state at each read, never stored.

import type { VolumeId } from '../ids.ts'
import {
  boolean,
  branded,
  field,
  type Infer,
  integer,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { recommendationParameterTexts, recommendationTexts } from '../texts/recommendation-texts.ts'

export const RECOMMENDATION_TYPES = [
  'under_replicated',
  'replica_unhealthy',
  'capacity_low',
  'capacity_excess',
  'primary_at_risk',
] as const
export type RecommendationType = (typeof RECOMMENDATION_TYPES)[number]

/** The most urgent one first. */
export const RECOMMENDATION_PRIORITIES = ['critical', 'high', 'medium', 'low'] as const
export const RECOMMENDATION_ACTIONS = ['set_replicas', 'resize'] as const

export const recommendationShape = object({
  /** The same as long as the volume has a recommendation of this type, also when the numbers change. */
  id: string(),
  type: oneOf(RECOMMENDATION_TYPES),
  priority: oneOf(RECOMMENDATION_PRIORITIES),
  volume_id: branded<VolumeId>(),
  volume_name: string(),
  applicable: boolean(),
  /** The condition that holds and, if the recommendation cannot be applied, the reason. */
  why: string(),
  parameters: object({
    action: oneOf(RECOMMENDATION_ACTIONS),
    target_replicas: optional(integer()),
    target_size_bytes: optional(integer()),
  }),
  /** The values from which the recommendation was computed. */
  measured: object({
    sizeBytes: integer(),
    replicas: integer(),
    enrolledNodes: integer(),
    usedBytes: optional(integer()),
    /** The highest bytes in use of the last seven days. */
    highestBytes: optional(integer()),
    measuredAt: optional(string()),
  }),
})
export type Recommendation = Infer<typeof recommendationShape>

/** The body of POST /dvm/recommendations/{id}/apply. */
export const applyRecommendationShape = object({
  parameters: field(
    recommendationTexts.parameters,
    optional(
      object({
        action: field(recommendationParameterTexts.action, string()),
        target_replicas: field(recommendationParameterTexts.target_replicas, optional(integer())),
        target_size_bytes: field(recommendationParameterTexts.target_size_bytes, optional(integer())),
      }),
    ),
  ),
})
