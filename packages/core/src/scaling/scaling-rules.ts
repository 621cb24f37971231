// Rules for the body of a scaling policy.

import { durationMs, type JsonObject, SCALING_METRICS } from '@holdfast/contract'
import type { CrossRefusal, CrossRule } from '../admission/rule-engine/cross-rule.ts'
import { accepted, isAbsent, onNumber, onText, type Rule } from '../admission/rule-engine/rule.ts'

const LEAST_PERCENT = 10
const MOST_PERCENT = 95
/** The longest delay. The values of the delay are in memory, and a new owner of the shard begins it again. */
const MOST_DELAY_MS = 3_600_000

const CODE = 'scaling_policy_invalid'
const METRIC_FORM = `one of ${SCALING_METRICS.join(', ')}`
const PERCENT_FORM = `a whole number from ${LEAST_PERCENT} to ${MOST_PERCENT}`

const countRange = (at: string): Rule => ({
  code: CODE,
  at,
  stage: 'range',
  refuses: onNumber(
    (count, { limits: { maxReplicasPerDeployment: most } }) =>
      (count < 1 || count > most) && accepted(`a whole number from 1 to ${most}`),
  ),
})

export const scalingRules: readonly Rule[] = [
  countRange('min'),
  countRange('max'),
  {
    code: CODE,
    at: 'metric',
    stage: 'form',
    refuses: onText((metric) => !SCALING_METRICS.some((known) => known === metric) && accepted(METRIC_FORM)),
  },
  {
    code: CODE,
    at: 'targetPercent',
    stage: 'range',
    refuses: onNumber(
      (percent) => (percent < LEAST_PERCENT || percent > MOST_PERCENT) && accepted(PERCENT_FORM),
    ),
  },
  {
    code: CODE,
    at: 'scaleDownDelay',
    stage: 'range',
    refuses: onText(
      (delay) => (durationMs(delay) ?? 0) > MOST_DELAY_MS && accepted('a duration from 0s to 1h'),
    ),
  },
]

/** The fields without a default, each with its accepted form. */
const NEEDED: readonly (readonly [field: string, form: string])[] = [
  ['min', 'a whole number from 1 to max'],
  ['max', 'a whole number, at least min'],
  ['metric', METRIC_FORM],
  ['targetPercent', PERCENT_FORM],
]

export const scalingCrossRules: readonly CrossRule[] = [
  ...NEEDED.map(
    ([at, form]): CrossRule => ({
      code: CODE,
      at,
      needs: [at],
      refusals: (merged) =>
        isAbsent(merged[at]) ? [{ path: [at], value: undefined, ...accepted(form) }] : [],
    }),
  ),
  { code: CODE, at: 'min', needs: ['min', 'max'], refusals: minAboveMax },
]

function minAboveMax({ min, max }: JsonObject): CrossRefusal[] {
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return []
  return [{ path: ['min'], value: min, ...accepted(`a whole number from 1 to ${max}, which is max`) }]
}
