// Rules for resource requests and limits: whole numbers, not negative, and small enough to be exact. A limit of memory is
// one that the engine accepts.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

const FIELDS = ['resources.cpuMillis', 'resources.memoryBytes', 'limits.cpuMillis', 'limits.memoryBytes']

/**
 * Rules of stage `type`. They reject a fraction before the type check does, so that the code is resources_invalid and
 * not that of a wrong type.
 */
const amountRules: readonly Rule[] = FIELDS.flatMap((at): Rule[] => [
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

/** The engine creates no container with a smaller limit of memory; 0 means no limit. */
const LEAST_MEMORY_LIMIT = 6 * 1024 * 1024

export const resourcesRules: readonly Rule[] = [
  ...amountRules,
  {
    code: 'resources_invalid',
    at: 'limits.memoryBytes',
    stage: 'range',
    refuses: onNumber((bytes) => bytes > 0 && bytes < LEAST_MEMORY_LIMIT),
  },
]
