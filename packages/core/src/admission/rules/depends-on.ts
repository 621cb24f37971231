// Rules for the form of a dependency: a deployment name and a known condition. Fact checks test whether the name exists.

import { DEPENDENCY_CONDITIONS } from '@holdfast/contract'
import { isDeploymentName } from '../../grammar.ts'
import { onText, type Rule } from '../rule-engine/rule.ts'

export const dependsOnRules: readonly Rule[] = [
  {
    code: 'dependency_invalid',
    at: 'dependsOn.*',
    stage: 'form',
    refuses: (_value, _context, place) => !isDeploymentName(place.key),
  },
  {
    code: 'dependency_invalid',
    at: 'dependsOn.*',
    stage: 'range',
    refuses: onText((gate) => !DEPENDENCY_CONDITIONS.some((known) => known === gate)),
  },
]
