// Compiles a shape and its rules into one tree at start, so that no request has to match path patterns.

import { deploymentBodyShape, describeShape, type ShapeNode } from '@holdfast/contract'
import { FIELD_RULES } from '../rule-list.ts'
import { type Rule, STAGES } from './rule.ts'

/** Known only so that a rule can reject it with its own code; never listed as accepted. */
const ALWAYS_REJECTED = 'secrets[*].mount_path'

export interface CompiledNode {
  /** The shape without `optional` or `nullable`. */
  readonly shape: ShapeNode
  /** The accepted form in words, for a wrong type. */
  readonly described: string
  /** Run before the type check, on any value that was sent. */
  readonly typeRules: readonly Rule[]
  /** Run after the type check, also on absent values. */
  readonly requiredRules: readonly Rule[]
  /** Run on present values of the right type, in the order of their stages. */
  readonly rules: readonly Rule[]
  /** Fields of an object, in the order in which they are checked. */
  readonly fields: ReadonlyMap<string, CompiledNode>
  /** The same as a list, which is cheaper to walk. */
  readonly fieldList: readonly (readonly [string, CompiledNode])[]
  /** The element of a list or the value of a map. */
  readonly element: CompiledNode | undefined
  /** Names of the accepted fields, for field_unknown. */
  readonly accepted: string
}

/** `at` is the path as rules write it: '' for the root, `a.b` in objects, `a.*` in maps, `a[*]` in lists. */
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
    accepted: [...fields.keys()].filter((name) => `${at}.${name}` !== ALWAYS_REJECTED).join(', '),
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
