// Rules for resource requests and limits: whole numbers, not negative, and small enough to be exact.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

const FIELDS = ['resources.cpuMillis', 'resources.memoryBytes', 'limits.cpuMillis', 'limits.memoryBytes']

/**
 * Rules of stage `type`. They reject a fraction before the type check does, so that the code is resources_invalid and
 * not that of a wrong type.
 */
export const resourcesRules: readonly Rule[] = FIELDS.flatMap((at): Rule[] => [
  {
    code: 'resources_invalid',
    at,
    stage: 'type',
    refuses: (value) => typeof value === 'number' && !Number.isInteger(value),
  },
  {
    code: 'resources_invalid',
    at,
    stage: 'range',
    refuses: onNumber((amount) => amount < 0 || amount > Number.MAX_SAFE_INTEGER),
  },
])
