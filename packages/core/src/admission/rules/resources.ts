// Requests and limits are whole, not negative, and small enough to be exact. DECISIONS 3, 4.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

const FIELDS = ['resources.cpuMillis', 'resources.memoryBytes', 'limits.cpuMillis', 'limits.memoryBytes']

/** A fraction has the wrong type as well; it is claimed here, before the type check, so that the code says resources. */
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
