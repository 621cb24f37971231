// Rules for the number of replicas of a deployment.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

export const replicasRules: readonly Rule[] = [
  { code: 'replicas_negative', at: 'replicas', stage: 'range', refuses: onNumber((count) => count < 0) },
  {
    code: 'replicas_out_of_range',
    at: 'replicas',
    stage: 'range',
    refuses: onNumber(
      (count, { limits }) =>
        count > limits.maxReplicasPerDeployment && { params: { max: limits.maxReplicasPerDeployment } },
    ),
  },
]
