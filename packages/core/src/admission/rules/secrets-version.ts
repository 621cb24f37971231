// Only a rotation raises secretsVersion. A negative one is rejected; any other is replaced, with an alteration.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

export const secretsVersionRules: readonly Rule[] = [
  { code: 'secrets_version_negative', at: 'secretsVersion', stage: 'range', refuses: onNumber((n) => n < 0) },
]
