// Compiles the shape of a request body and its rules into one tree at startup, so that no request matches path patterns.

import { deploymentBodyShape, describeShape, type ShapeNode } from '@holdfast/contract'
import { FIELD_RULES } from '../rule-list.ts'
import { type Rule, STAGES } from './rule.ts'

/** A field in the shape that is never accepted. It is in the shape so that a rule can reject it with a specific code. */
const ALWAYS_REJECTED = 'secrets[*].mount_path'

export interface CompiledNode {
  /** The shape of the field without `optional` or `nullable`. */
  readonly shape: ShapeNode
  /** The accepted form in words, for the rejection of a value of the wrong type. */
  readonly described: string
  /** Rules that run before the type check, on any value that was sent. */
  readonly typeRules: readonly Rule[]
  /** Rules that run after the type check, even on absent values. */
  readonly requiredRules: readonly Rule[]
  /** Rules that run on present values of the right type, in the order of STAGES. */
  readonly rules: readonly Rule[]
  /** Fields of an object, in the order in which they are checked. */
  readonly fields: ReadonlyMap<string, CompiledNode>
  /** The fields of an object as a list, which is cheaper to iterate than the map. */
  readonly fieldList: readonly (readonly [string, CompiledNode])[]
  /** The compiled rules for the elements of a list or the values of a map. */
  readonly element: CompiledNode | undefined
  /** Names of the accepted fields, for the text of a field_unknown rejection. */
  readonly accepted: string
}

/** Compiles a shape. `at` is its path: '' for the root, `a.b` in objects, `a.*` in maps, `a[*]` in lists. */
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
