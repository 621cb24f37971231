// Maximum values of all duration fields. Minimum values are in the rule files of the individual fields.

import { durationMs } from '@holdfast/contract'
import { accepted, onText, type Rule, type Verdict } from '../rule-engine/rule.ts'

const HOUR_MS = 3_600_000

export const durationsRules: readonly Rule[] = [
  ...['healthCheck.timeout', 'healthCheck.interval', 'healthCheck.startPeriod'].map(
    (at): Rule => ({
      code: 'field_type_invalid',
      at,
      stage: 'range',
      refuses: onText((text, { limits }) => isLonger(text, limits.durationMs)),
    }),
  ),
  {
    code: 'field_type_invalid',
    at: 'stopGracePeriod',
    stage: 'range',
    refuses: onText((text, { limits }) => isLonger(text, limits.stopGracePeriodMs)),
  },
]

function isLonger(text: string, maxMs: number): Verdict {
  return (durationMs(text) ?? 0) > maxMs && accepted(`a duration of at most ${maxMs / HOUR_MS}h`)
}
