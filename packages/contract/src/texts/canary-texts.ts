// The texts of requests for canaries.

import type { FieldTexts } from '../shapes/shape.ts'

/** The greatest share of a canary, in percent. Routers know no others. */
export const MAX_CANARY_WEIGHT = 50

export const canaryTexts = {
  change: {
    meaning:
      'The fields of the manifest that the canary changes, as in an update. They are validated like an update and make no revision until the canary is promoted.',
    range: 'an object with fields of a deployment',
    example: { image: 'registry.example.com/shop/web:1.5.0' },
  },
  replicas: {
    meaning: 'The number of replicas that run the change, beside those of the deployment.',
    range: 'a whole number from 1 to the replicas of the deployment',
    example: 1,
  },
  weight: {
    meaning:
      'The share of routed requests that the canary receives, in percent, whatever the number of replicas.',
    range: `a whole number from 1 to ${MAX_CANARY_WEIGHT}; without effect on a deployment without routes`,
    example: 10,
  },
  observe: {
    meaning: 'How long all replicas of the canary must serve without a failure before it is ready.',
    default: '10m',
    range: 'a duration from 1s to 24h',
    example: '30m',
  },
} satisfies FieldTexts

export const promoteCanaryTexts = {
  force: {
    meaning: 'Whether a canary that has not passed its observation is promoted as well.',
    absent: 'only a canary in the phase ready is promoted',
    range: 'true or false',
    example: false,
  },
} satisfies FieldTexts
