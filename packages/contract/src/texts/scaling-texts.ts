// The texts of the request body of a scaling policy.

import type { FieldTexts } from '../shapes/shape.ts'

const ABSENT = 'the stored value stays; a new policy must have it'

export const scalingTexts = {
  min: {
    meaning: 'The least number of replicas that the policy desires.',
    absent: ABSENT,
    range: 'a whole number from 1 to max',
    example: 2,
  },
  max: {
    meaning: 'The largest number of replicas that the policy desires.',
    absent: ABSENT,
    range:
      'a whole number from min to {maxReplicasPerDeployment}; 1 for a deployment with a read-write mount',
    example: 10,
  },
  metric: {
    meaning: 'The measured resource: CPU or memory of the containers. The deployment must request it.',
    absent: ABSENT,
    range: 'cpu or memory',
    example: 'cpu',
  },
  targetPercent: {
    meaning:
      'How much of the requested amount a replica should use on average. More usage adds replicas, less removes some.',
    absent: ABSENT,
    range: 'a whole number from 10 to 95',
    example: 60,
  },
  scaleDownDelay: {
    meaning: 'How long the usage must be lower before replicas are removed.',
    default: '300s',
    range: 'a duration from 0s to 1h',
    example: '300s',
  },
} satisfies FieldTexts
