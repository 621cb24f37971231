// The schema language. TypeScript types, decoders (shape-faults.ts), the field allow-list of the store and the JSON
// Schema of the OpenAPI document (shape-schema.ts) are all derived from shapes. A shape describes types only; rules
// that reject with an error code are in packages/core/src/admission.

import type { Json } from '../json/json.ts'

declare const inferred: unique symbol

/** The texts of a field that users write. Every reference of the field is made from them. */
export interface FieldText {
  /** The effect of the field, in whole sentences. */
  readonly meaning: string
  /** The value that is used if the field is absent. The code that fills it in reads it from here. */
  readonly default?: Json
  /** The effect of leaving the field out, if it is optional and has no default. Continues "If absent, ...". */
  readonly absent?: string
  /** The accepted values, as words without a full stop. `{name}` is replaced by the limit of that name. */
  readonly range: string
  readonly example: Json
}
export type FieldTexts = { readonly [field: string]: FieldText }

interface Described {
  readonly description?: string
  readonly text?: FieldText
}
interface StringNode extends Described {
  readonly kind: 'string'
  /** The accepted strings, for documentation only. An admission rule rejects other strings with a specific code. */
  readonly values?: readonly string[]
  readonly pattern?: string
}
interface DurationNode extends Described {
  readonly kind: 'duration'
}
interface IntegerNode extends Described {
  readonly kind: 'integer'
  readonly minimum?: number
}
interface BooleanNode extends Described {
  readonly kind: 'boolean'
}
interface ListNode extends Described {
  readonly kind: 'list'
  readonly element: ShapeNode
}
interface MapNode extends Described {
  readonly kind: 'map'
  readonly value: ShapeNode
}
export interface ObjectNode extends Described {
  readonly kind: 'object'
  /** True if an object that passed the check is not checked again. Set for large records that other records share. */
  readonly remembered?: boolean
  readonly fields: { readonly [name: string]: ShapeNode }
}
export interface OptionalNode extends Described {
  readonly kind: 'optional'
  readonly inner: ShapeNode
}
interface NullableNode extends Described {
  readonly kind: 'nullable'
  readonly inner: ShapeNode
}
/** Any JSON value, such as the data of an event or a response stored for an Idempotency-Key. */
interface AnyNode extends Described {
  readonly kind: 'json'
}

export type ShapeNode =
  | StringNode
  | DurationNode
  | IntegerNode
  | BooleanNode
  | ListNode
  | MapNode
  | ObjectNode
  | OptionalNode
  | NullableNode
  | AnyNode

/** An interface, because the declaration files of all shapes have to name it. */
export interface Typed<T> {
  readonly [inferred]?: T
}
export type Shape<T> = ShapeNode & Typed<T>
export type Infer<S> = S extends { readonly [inferred]?: infer T } ? Exclude<T, undefined> : never

type Fields = { readonly [name: string]: Shape<unknown> }
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends { readonly kind: 'optional' } ? K : never
}[keyof F]
type Simplify<T> = { [K in keyof T]: T[K] }
export type ObjectOf<F extends Fields> = Simplify<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & { [K in OptionalKeys<F>]?: Infer<F[K]> }
>

export const string = (about: Omit<StringNode, 'kind'> = {}): Shape<string> => ({ kind: 'string', ...about })
export const oneOf = <const V extends readonly string[]>(values: V): Shape<V[number]> => ({
  kind: 'string',
  values,
})
/** A string with a branded type. The value was validated before it was stored. */
export const branded = <T extends string>(about: Omit<StringNode, 'kind'> = {}): Shape<T> => ({
  kind: 'string',
  ...about,
})
export const duration = (description?: string): Shape<string> =>
  description === undefined ? { kind: 'duration' } : { kind: 'duration', description }
export const integer = (about: Omit<IntegerNode, 'kind'> = {}): Shape<number> => ({
  kind: 'integer',
  ...about,
})
export const boolean = (): Shape<boolean> => ({ kind: 'boolean' })
export const list = <T>(element: Shape<T>): Shape<T[]> => ({ kind: 'list', element })
export const map = <T>(value: Shape<T>): Shape<{ [key: string]: T }> => ({ kind: 'map', value })
export const json = <T>(): Shape<T> => ({ kind: 'json' })
export const nullable = <T>(inner: Shape<T>): Shape<T | null> => ({ kind: 'nullable', inner })
export const optional = <T>(inner: Shape<T>): Shape<T> & { readonly kind: 'optional' } => ({
  kind: 'optional',
  inner,
})
export const object = <F extends Fields>(
  fields: F,
): Shape<ObjectOf<F>> & { readonly fields: F } & { readonly kind: 'object' } => ({
  kind: 'object',
  fields,
})

/** Adds a description to a shape, for the OpenAPI document and the reference pages. */
export const described = <S extends Shape<unknown>>(description: string, shape: S): S => ({
  ...shape,
  description,
})

/** Adds the texts of a field to its shape. */
export const field = <S extends Shape<unknown>>(text: FieldText, shape: S): S => ({
  ...shape,
  description: text.meaning,
  text,
})

/** Marks a shape whose objects are checked only once. Records are immutable, so a valid record stays valid. */
export const remembered = <S extends Shape<unknown> & { readonly kind: 'object' }>(shape: S): S => ({
  ...shape,
  remembered: true,
})

/** A copy of a shape in which all fields of all objects are optional. Texts and descriptions stay. */
export function withOptionalFields(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return { ...shape, inner: withOptionalFields(shape.inner) }
  if (shape.kind === 'list') return { ...shape, element: withOptionalFields(shape.element) }
  if (shape.kind !== 'object') return shape
  const fields = Object.entries(shape.fields).map(([name, each]) => [
    name,
    optional(withOptionalFields(each)),
  ])
  return { ...shape, fields: Object.fromEntries(fields) }
}

/** The text of a duration: a whole number and a unit. */
export const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

export function durationMs(text: string): number | undefined {
  const found = DURATION.exec(text)
  const unit = UNIT_MS[found?.[2] ?? '']
  return unit === undefined ? undefined : Number(found?.[1]) * unit
}
