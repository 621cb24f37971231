// Resource requests and limits: whole, not negative, and small enough to be exact.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

const FIELDS = ['resources.cpuMillis', 'resources.memoryBytes', 'limits.cpuMillis', 'limits.memoryBytes']

/**
 * A fraction also has the wrong type. It is rejected here, before the type check, so that the code is
 * resources_invalid.
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
