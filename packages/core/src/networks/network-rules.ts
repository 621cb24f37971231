// Rules for the body of a new network.

import { NETWORK_DRIVERS } from '@holdfast/contract'
import { accepted, onText, type Rule } from '../admission/rule-engine/rule.ts'
import { isReservedLabel, LABEL_KEY_FORM, LABEL_VALUE_FORM } from '../admission/rules/labels.ts'
import { nameRules } from '../admission/rules/name.ts'
import { isLabelKey, isLabelValue } from '../grammar.ts'

export const networkRules: readonly Rule[] = [
  ...nameRules,
  {
    code: 'network_option_unsupported_on_agent',
    at: 'driver',
    stage: 'form',
    refuses: onText(
      (driver) =>
        !NETWORK_DRIVERS.some((known) => known === driver) &&
        accepted(`the driver ${NETWORK_DRIVERS.join()}`),
    ),
  },
  {
    code: 'list_too_long',
    at: 'labels',
    stage: 'length',
    refuses: (value, { limits: { labels: max } }) =>
      typeof value === 'object' && value !== null && Object.keys(value).length > max && { params: { max } },
  },
  {
    code: 'field_type_invalid',
    at: 'labels.*',
    stage: 'form',
    refuses: (_value, _context, { key }) => !isLabelKey(key) && accepted(LABEL_KEY_FORM),
  },
  {
    code: 'field_type_invalid',
    at: 'labels.*',
    stage: 'form',
    refuses: onText((value) => !isLabelValue(value) && accepted(LABEL_VALUE_FORM)),
  },
  {
    code: 'label_reserved',
    at: 'labels.*',
    stage: 'range',
    refuses: (_value, _context, { key }) => isReservedLabel(key),
  },
]
