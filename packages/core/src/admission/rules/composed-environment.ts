// Rules for the template of a composed variable. secret-lists.ts checks that a template names only declared labels.

import { isEnvironmentKey } from '../../grammar.ts'
import { parseTemplate } from '../../secrets/placeholders.ts'
import { onText, type Rule } from '../rule-engine/rule.ts'

const AT = 'composedEnvironment.*'

export const composedEnvironmentRules: readonly Rule[] = [
  {
    code: 'secret_compose_template_empty',
    at: AT,
    stage: 'required',
    refuses: onText((template) => template.trim() === ''),
  },
  {
    code: 'environment_key_invalid',
    at: AT,
    stage: 'form',
    refuses: (_template, _context, { key }) => !isEnvironmentKey(key),
  },
  {
    code: 'secret_compose_template_malformed',
    at: AT,
    stage: 'form',
    refuses: onText((template) => parseTemplate(template) === undefined),
  },
  {
    code: 'secret_compose_no_reference',
    at: AT,
    stage: 'range',
    refuses: onText(
      (template) => parseTemplate(template)?.every((part) => typeof part === 'string') === true,
    ),
  },
]
