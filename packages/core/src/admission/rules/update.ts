// Rules for the settings of a rolling update.

import { durationMs, FAILURE_ACTIONS, UPDATE_ORDERS } from '@holdfast/contract'
import { accepted, onNumber, onText, type Rule, type Verdict } from '../rule-engine/rule.ts'

export const updateRules: readonly Rule[] = [
  { code: 'update_invalid', at: 'update.order', stage: 'form', refuses: oneOf(UPDATE_ORDERS) },
  {
    code: 'update_invalid',
    at: 'update.parallelism',
    stage: 'range',
    refuses: onNumber(
      (count, { limits: { maxReplicasPerDeployment: max } }) =>
        (count < 1 || count > max) && accepted(`a whole number from 1 to ${max}`),
    ),
  },
  { code: 'update_invalid', at: 'update.failureAction', stage: 'form', refuses: oneOf(FAILURE_ACTIONS) },
  {
    code: 'update_invalid',
    at: 'update.progressDeadline',
    stage: 'range',
    refuses: onText((text, { limits }) => isNoDeadline(durationMs(text) ?? 0, limits.durationMs)),
  },
]

function oneOf(values: readonly string[]): Rule['refuses'] {
  return onText((text) => !values.includes(text) && accepted(`one of ${values.join(', ')}`))
}

function isNoDeadline(ms: number, maxMs: number): Verdict {
  return (ms <= 0 || ms > maxMs) && accepted(`a duration above 0s and of at most ${maxMs / 3_600_000}h`)
}
