// Rules for the name of a deployment: present, short enough, well-formed and not reserved.

import { hasNameCharacters } from '../../grammar.ts'
import { isAbsent, onText, type Rule } from '../rule-engine/rule.ts'

export const nameRules: readonly Rule[] = [
  {
    code: 'name_required',
    at: 'name',
    stage: 'required',
    refuses: (value) => isAbsent(value) || value === '',
  },
  {
    code: 'deployment_name_too_long',
    at: 'name',
    stage: 'length',
    refuses: onText(
      (name, { limits }) => name.length > limits.nameCharacters && { params: { max: limits.nameCharacters } },
    ),
  },
  {
    code: 'deployment_name_invalid',
    at: 'name',
    stage: 'form',
    refuses: onText((name) => !hasNameCharacters(name)),
  },
  {
    code: 'deployment_name_invalid',
    at: 'name',
    stage: 'range',
    refuses: onText((name, { pathName }) => pathName !== undefined && name !== pathName),
  },
  {
    code: 'reserved_infrastructure_name',
    at: 'name',
    stage: 'range',
    refuses: onText((name, { reservedNames }) => reservedNames.has(name)),
  },
]
