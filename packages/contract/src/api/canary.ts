// Canaries: a change of a deployment that runs in a few replicas beside the current ones and receives a share of the
// routed requests, until it is promoted or aborted.

import type { NodeId } from '../ids.ts'
import type { JsonObject } from '../json/json.ts'
import {
  boolean,
  branded,
  described,
  duration,
  field,
  type Infer,
  integer,
  json,
  list,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { canaryTexts, promoteCanaryTexts } from '../texts/canary-texts.ts'

/**
 * `progressing`: not all replicas serve yet. `observing`: all serve, and are watched. `ready`: the observation passed.
 * `aborted`: over, its replicas are removed.
 */
export const CANARY_PHASES = ['progressing', 'observing', 'ready', 'aborted'] as const
export type CanaryPhase = (typeof CANARY_PHASES)[number]

/** The body of POST /deployments/{name}/canary. */
export const newCanaryShape = object({
  change: field(canaryTexts.change, json<JsonObject>()),
  replicas: field(canaryTexts.replicas, integer({ minimum: 1 })),
  weight: field(canaryTexts.weight, integer({ minimum: 1 })),
  observe: field(canaryTexts.observe, optional(duration())),
})

/** The body of POST /deployments/{name}/canary/promote. */
export const promoteCanaryShape = object({ force: field(promoteCanaryTexts.force, optional(boolean())) })

export const canaryFailureShape = object({
  replica: integer({ description: 'Number of the replica of the canary' }),
  reason: string({ description: 'Why it failed, in one word' }),
  nodeId: optional(branded<NodeId>({ description: 'Node of the replica; absent if it had none' })),
  cause: optional(string({ description: 'Why the container failed, in words; absent if it is not known' })),
  at: string({ description: 'When the failure was found' }),
})
export type CanaryFailure = Infer<typeof canaryFailureShape>

const progressFields = {
  phase: oneOf(CANARY_PHASES),
  /** Why the canary was aborted, or why it waits; empty otherwise. */
  reason: string(),
  /** Time at which the phase began. */
  since: string(),
  replicas: integer(),
  weight: integer(),
  observe: duration(),
  failures: list(canaryFailureShape),
}

/** The state of a canary, as the plan of a deployment advances it. */
export const canaryProgressShape = object(progressFields)
export type CanaryProgress = Infer<typeof canaryProgressShape>

/** A canary in the record of its deployment. */
export const canaryShape = object({
  ...progressFields,
  change: described(
    'The fields that the canary changes; null for a field that it clears',
    json<JsonObject>(),
  ),
})
export type Canary = Infer<typeof canaryShape>
