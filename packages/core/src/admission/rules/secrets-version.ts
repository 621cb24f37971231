// Rules for secretsVersion, which only a rotation raises. A negative number is rejected; any other number is ignored.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

export const secretsVersionRules: readonly Rule[] = [
  { code: 'secrets_version_negative', at: 'secretsVersion', stage: 'range', refuses: onNumber((n) => n < 0) },
]
