// The rotation counter is ours to raise; a negative one is refused, another one is announced by normalise. SPEC 2.2, 7.1.

import { onNumber, type Rule } from '../rule-engine/rule.ts'

export const secretsVersionRules: readonly Rule[] = [
  { code: 'secrets_version_negative', at: 'secretsVersion', stage: 'range', refuses: onNumber((n) => n < 0) },
]
