// Describes every field of a request body: the texts of the contract, joined with the limits and rules that apply to it.

import {
  defined,
  deploymentBodyShape,
  type FieldText,
  fillIn,
  type Json,
  type JsonObject,
  type ShapeNode,
} from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits } from '../../limits.ts'
import type { AdmissionContext } from '../context.ts'
import {
  type BodyRules,
  contextOf,
  DEPLOYMENT_BODY,
  type FieldRejection,
  rejectionsAt,
} from './field-rejections.ts'

export interface DescribedField {
  /** The path of the field in the body, such as `secrets[].name`. */
  readonly path: string
  /** The type in words, such as `list of strings`. */
  readonly type: string
  readonly required: boolean
  readonly meaning: string
  /** The value that is used if the field is absent. */
  readonly default?: Json
  /** The effect of leaving the field out, if it has no default. Continues "If absent, ...". */
  readonly absent?: string
  /** The accepted values in words, with the limits of the platform. */
  readonly range: string
  readonly example: Json
  /** The codes that can reject the field or an element of it. */
  readonly rejections: readonly FieldRejection[]
  /** The fields inside the field, in the order in which they are checked. */
  readonly fields: readonly DescribedField[]
}

/** Describes the fields of a deployment manifest, with the given limits. */
export const describeManifest = (limits: Limits = DEFAULT_LIMITS): DescribedField[] => [
  ...describeManifestInSteps(limits),
]

/**
 * Describes the top-level fields of a deployment manifest one after another. A field takes some milliseconds, because all
 * rules are run for it, so a server can do other work in between.
 */
export function* describeManifestInSteps(limits: Limits): Generator<DescribedField> {
  const body = bodyOf(DEPLOYMENT_BODY, limits)
  for (const [name, field] of Object.entries<ShapeNode>(deploymentBodyShape.fields))
    yield describeField(field, name, body)
}

export const describeFields = (shape: ShapeNode, rules: BodyRules, limits: Limits): DescribedField[] =>
  fieldsIn(shape, '', bodyOf(rules, limits))

const bodyOf = (rules: BodyRules, limits: Limits): Body => ({
  rules,
  context: contextOf(limits),
  numbers: limitTexts(limits),
})

/** All fields of a description, each followed by the fields inside it. */
export function flattenFields(fields: readonly DescribedField[]): DescribedField[] {
  return fields.flatMap((field) => [field, ...flattenFields(field.fields)])
}

/** The example of a field inside the fields that contain it, such as `{secrets: [{name: 'DB'}]}`. */
export function exampleDocument({ path, example }: Pick<DescribedField, 'path' | 'example'>): JsonObject {
  const [last = '', ...outer] = path.split('.').reverse()
  return outer.reduce<JsonObject>((inside, step) => nest(step, inside), nest(last, example))
}

const nest = (step: string, value: Json): JsonObject =>
  step.endsWith('[]') ? { [step.slice(0, -2)]: [value] } : { [step]: value }

interface Body {
  readonly rules: BodyRules
  readonly context: AdmissionContext
  /** Maps the names of limits to their texts. */
  readonly numbers: { readonly [limit: string]: string }
}

/** `at` is a path in the notation of the rules: `secrets[*].name`, `environment.*`. */
function fieldsIn(shape: ShapeNode, at: string, body: Body): DescribedField[] {
  const inner = unwrapped(shape)
  if (inner.kind === 'list') return fieldsIn(inner.element, `${at}[*]`, body)
  if (inner.kind !== 'object') return []
  return Object.entries(inner.fields).map(([name, field]) =>
    describeField(field, at === '' ? name : `${at}.${name}`, body),
  )
}

function describeField(shape: ShapeNode, at: string, body: Body): DescribedField {
  const text = textOf(shape)
  if (text === undefined) throw new TypeError(`the field ${at} has no texts`)
  const { meaning, range, example } = text
  return {
    path: at.replaceAll('[*]', '[]'),
    type: typeText(shape),
    required: text.default === undefined && text.absent === undefined,
    meaning,
    ...defined({ default: text.default, absent: text.absent }),
    range: fillIn(range, body.numbers),
    example,
    rejections: rejectionsAt(at, unwrapped(shape), body.rules, body.context),
    fields: fieldsIn(shape, at, body),
  }
}

function unwrapped(shape: ShapeNode): ShapeNode {
  return shape.kind === 'optional' || shape.kind === 'nullable' ? unwrapped(shape.inner) : shape
}

function textOf(shape: ShapeNode): FieldText | undefined {
  if (shape.text !== undefined) return shape.text
  return shape.kind === 'optional' || shape.kind === 'nullable' ? textOf(shape.inner) : undefined
}

const PLURALS: { readonly [kind in ShapeNode['kind']]?: string } = {
  string: 'strings',
  object: 'objects',
  integer: 'whole numbers',
}

function typeText(shape: ShapeNode): string {
  const bare = unwrapped(shape)
  if (bare.kind === 'list') return `list of ${pluralOf(bare.element)}`
  if (bare.kind === 'map') return `map from names to ${pluralOf(bare.value)}`
  if (bare.kind === 'integer') return 'whole number'
  if (bare.kind === 'boolean') return 'true or false'
  return bare.kind === 'json' ? 'any' : bare.kind
}

const pluralOf = (shape: ShapeNode): string => PLURALS[unwrapped(shape).kind] ?? 'values'

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
]

/** The limits as texts for `range`; limits in milliseconds are written as durations. */
function limitTexts(limits: Limits): { [limit: string]: string } {
  return Object.fromEntries(
    Object.entries<number>({ ...limits }).map(([name, value]) => [
      name,
      name.endsWith('Ms') ? durationText(value) : String(value),
    ]),
  )
}

function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
