// Rules for the form of `placement`. The scheduler decides whether a node satisfies the placement.

import { CONSTRAINT_OPERATORS } from '@holdfast/contract'
import { isDeploymentName, isLabelKey, isLabelValue } from '../../grammar.ts'
import {
  accepted,
  isAbsent,
  onText,
  type Place,
  type Rule,
  type Stage,
  sibling,
} from '../rule-engine/rule.ts'

const LABEL_KEY = 'a label key: name or prefix/name, letters, digits, ".", "_" and "-"'
const NAME = 'the name of a deployment'

export const placementRules: readonly Rule[] = [
  placementRule('placement.constraints[*].label', 'required', isAbsent, LABEL_KEY),
  placementRule(
    'placement.constraints[*].label',
    'form',
    onText((key) => !isLabelKey(key)),
    LABEL_KEY,
  ),
  placementRule('placement.constraints[*].operator', 'required', isAbsent, operators()),
  placementRule(
    'placement.constraints[*].operator',
    'form',
    onText((operator) => !CONSTRAINT_OPERATORS.some((known) => known === operator)),
    operators(),
  ),
  placementRule(
    'placement.constraints[*].values',
    'required',
    (value, _context, place) => comparesValues(place) && (isAbsent(value) || isEmptyList(value)),
    'a list with at least one value beside the operators in and notIn',
  ),
  placementRule(
    'placement.constraints[*].values',
    'form',
    (value, _context, place) => asksForPresence(place) && !isEmptyList(value),
    'no values beside the operators exists and notExists',
  ),
  placementRule(
    'placement.constraints[*].values[*]',
    'form',
    onText((value) => !isLabelValue(value)),
    'a label value: at most 253 printable ASCII characters',
  ),
  placementRule(
    'placement.affinity[*]',
    'form',
    onText((name) => !isDeploymentName(name)),
    NAME,
  ),
  placementRule(
    'placement.antiAffinity[*]',
    'form',
    onText((name) => !isDeploymentName(name)),
    NAME,
  ),
  placementRule(
    'placement.spread',
    'form',
    onText((key) => !isLabelKey(key)),
    LABEL_KEY,
  ),
]

function placementRule(at: string, stage: Stage, refuses: Rule['refuses'], form: string): Rule {
  return {
    code: 'placement_invalid',
    at,
    stage,
    refuses: (value, context, place) => refuses(value, context, place) !== false && accepted(form),
  }
}

function operators(): string {
  return `one of ${CONSTRAINT_OPERATORS.join(', ')}`
}

function comparesValues(place: Place): boolean {
  const operator = sibling(place, 'operator')
  return operator === 'in' || operator === 'notIn'
}

function asksForPresence(place: Place): boolean {
  const operator = sibling(place, 'operator')
  return operator === 'exists' || operator === 'notExists'
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
