// Shape and rules become one tree, once, at start: per request nobody compares patterns.

import { deploymentBodyShape, describeShape, type ShapeNode } from '@holdfast/contract'
import { REFUSED_FIELDS } from '../refused-fields.ts'
import { FIELD_RULES } from '../rule-list.ts'
import { type Rule, STAGES } from './rule.ts'

export interface CompiledNode {
  /** Without the optional around it. */
  readonly shape: ShapeNode
  /** The accepted form in words, for a wrong type. */
  readonly described: string
  /** Before the type check, on whatever was sent. */
  readonly typeRules: readonly Rule[]
  /** After it, on absent values too. */
  readonly requiredRules: readonly Rule[]
  /** On present values of the right type, in the order of their stages. */
  readonly rules: readonly Rule[]
  /** Of an object, in the order in which they are judged. */
  readonly fields: ReadonlyMap<string, CompiledNode>
  /** The same as a list, which is cheaper to walk. */
  readonly fieldList: readonly (readonly [string, CompiledNode])[]
  /** Of a list or map. */
  readonly element: CompiledNode | undefined
  /** The names of the fields that are accepted, for field_unknown. */
  readonly accepted: string
}

/** `at` is how rules name the place: '' for the root, `a.b` in objects, `a.*` in maps, `a[*]` in lists. */
export function compileRules(shape: ShapeNode, rules: readonly Rule[], at = ''): CompiledNode {
  if (shape.kind === 'optional' || shape.kind === 'nullable') return compileRules(shape.inner, rules, at)
  const here = rules.filter((rule) => rule.at === at)
  const inStage = (...stages: string[]) => here.filter((rule) => stages.includes(rule.stage))
  const fields = compileFields(shape, rules, at)
  return {
    shape,
    described: describeShape(shape),
    typeRules: inStage('type'),
    requiredRules: inStage('required'),
    rules: STAGES.slice(2).flatMap((stage) => inStage(stage)),
    fields,
    fieldList: [...fields],
    element: compileElement(shape, rules, at),
    accepted: [...fields.keys()].filter((name) => !REFUSED_FIELDS.has(`${at}.${name}`)).join(', '),
  }
}

function compileFields(shape: ShapeNode, rules: readonly Rule[], at: string): Map<string, CompiledNode> {
  if (shape.kind !== 'object') return new Map()
  return new Map(
    Object.entries(shape.fields).map(([name, field]) => [
      name,
      compileRules(field, rules, at === '' ? name : `${at}.${name}`),
    ]),
  )
}

function compileElement(shape: ShapeNode, rules: readonly Rule[], at: string): CompiledNode | undefined {
  if (shape.kind === 'list') return compileRules(shape.element, rules, `${at}[*]`)
  return shape.kind === 'map' ? compileRules(shape.value, rules, `${at}.*`) : undefined
}

export const DEPLOYMENT_RULES: CompiledNode = compileRules(deploymentBodyShape, FIELD_RULES)
