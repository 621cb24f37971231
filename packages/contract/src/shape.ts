// What a record looks like, written once: TypeScript types, decoders, the allow-list of the store's encoder and the
// JSON Schema of the OpenAPI document all come from these nodes. A shape knows types only; the rules with their codes
// are in core/admission, so that no rule hides from the catalogue.

import { childPath, elementPath } from './field-path.ts'
import type { JsonObject } from './json.ts'

declare const inferred: unique symbol

interface Described {
  readonly description?: string
}
interface StringNode extends Described {
  readonly kind: 'string'
  /** Documentation of the accepted form; what refuses another value is a rule with its own code. */
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
interface ObjectNode extends Described {
  readonly kind: 'object'
  readonly fields: { readonly [name: string]: ShapeNode }
}
interface OptionalNode extends Described {
  readonly kind: 'optional'
  readonly inner: ShapeNode
}
interface NullableNode extends Described {
  readonly kind: 'nullable'
  readonly inner: ShapeNode
}
/** Any JSON value: for an event's data and an answer kept for an Idempotency-Key. */
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

export type Shape<T> = ShapeNode & { readonly [inferred]?: T }
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
/** A string whose brand was checked before it was stored. */
export const branded = <T extends string>(about: Omit<StringNode, 'kind'> = {}): Shape<T> => ({
  kind: 'string',
  ...about,
})
export const duration = (description = ''): Shape<string> => ({ kind: 'duration', description })
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

/** A whole number and a unit, DECISIONS 4. */
const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

export function durationMs(text: string): number | undefined {
  const found = DURATION.exec(text)
  const unit = UNIT_MS[found?.[2] ?? '']
  return unit === undefined ? undefined : Number(found?.[1]) * unit
}

export interface ShapeFault {
  readonly kind: 'type' | 'missing' | 'unknown'
  readonly path: string
  readonly value: unknown
  readonly expected: string
}

/** Every place where a value is not of a shape, in the order of the shape. None: the value may be taken as its type. */
export function findShapeFaults(shape: ShapeNode, value: unknown, path = ''): ShapeFault[] {
  const faults: ShapeFault[] = []
  collectFaults(shape, value, path, faults)
  return faults
}

/** The one place where an unknown value becomes a typed one. Throws on a fault: a stored record that we cannot read is ours. */
export function decode<T>(shape: Shape<T>, value: unknown): T {
  const [fault] = findShapeFaults(shape, value)
  if (fault === undefined) return value as T
  throw new TypeError(`${fault.path || 'value'}: ${fault.kind}, expected ${fault.expected}`)
}

function collectFaults(shape: ShapeNode, value: unknown, path: string, faults: ShapeFault[]): void {
  if (shape.kind === 'nullable' && value === null) return
  if (shape.kind === 'optional' || shape.kind === 'nullable') collectFaults(shape.inner, value, path, faults)
  else if (isOfType(shape, value)) collectInside(shape, value, path, faults)
  else faults.push({ kind: 'type', path, value, expected: describeShape(shape) })
}

function collectInside(shape: ShapeNode, value: unknown, path: string, faults: ShapeFault[]): void {
  if (shape.kind === 'list' && Array.isArray(value)) {
    value.forEach((element, index) => {
      collectFaults(shape.element, element, elementPath(path, index), faults)
    })
  }
  if (shape.kind === 'map' && isObject(value)) {
    for (const key of Object.keys(value)) collectFaults(shape.value, value[key], childPath(path, key), faults)
  }
  if (shape.kind === 'object' && isObject(value)) collectFields(shape, value, path, faults)
}

function collectFields(
  shape: ObjectNode,
  value: { [key: string]: unknown },
  path: string,
  faults: ShapeFault[],
): void {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(shape.fields, key)) {
      const expected = `one of ${Object.keys(shape.fields).join(', ')}`
      faults.push({ kind: 'unknown', path: childPath(path, key), value: value[key], expected })
    }
  }
  for (const [key, field] of Object.entries(shape.fields)) {
    const member = value[key]
    if (member !== undefined) collectFaults(field, member, childPath(path, key), faults)
    else if (field.kind !== 'optional') {
      faults.push({
        kind: 'missing',
        path: childPath(path, key),
        value: undefined,
        expected: describeShape(field),
      })
    }
  }
}

/** Only the node itself, not what is inside it. */
export function isOfType(shape: ShapeNode, value: unknown): boolean {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string'
    case 'duration':
      return typeof value === 'string' && durationMs(value) !== undefined
    case 'integer':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'list':
      return Array.isArray(value)
    case 'map':
    case 'object':
      return isObject(value)
    case 'optional':
      return isOfType(shape.inner, value)
    case 'nullable':
      return value === null || isOfType(shape.inner, value)
    case 'json':
      return true
  }
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The accepted form in words, for a rejection's `expected`. */
export function describeShape(shape: ShapeNode): string {
  switch (shape.kind) {
    case 'string':
      return shape.values === undefined ? 'a string' : `one of ${shape.values.join(', ')}`
    case 'duration':
      return 'a duration: a whole number with ms, s, m or h, for example 10s'
    case 'integer':
      return 'a whole number'
    case 'boolean':
      return 'true or false'
    case 'list':
      return `a list, each element ${describeShape(shape.element)}`
    case 'map':
      return `an object whose values are each ${describeShape(shape.value)}`
    case 'object':
      return `an object with ${Object.keys(shape.fields).join(', ')}`
    case 'optional':
      return describeShape(shape.inner)
    case 'nullable':
      return `${describeShape(shape.inner)}, or null`
    case 'json':
      return 'any JSON value'
  }
}

/** The JSON Schema of a shape, for the OpenAPI document and the editors that read it. */
export function jsonSchema(shape: ShapeNode): JsonObject {
  const described: JsonObject = shape.description ? { description: shape.description } : {}
  return { ...schemaOf(shape), ...described }
}

function schemaOf(shape: ShapeNode): JsonObject {
  switch (shape.kind) {
    case 'string':
      return {
        type: 'string',
        ...(shape.values === undefined ? {} : { enum: [...shape.values] }),
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }),
      }
    case 'duration':
      return { type: 'string', pattern: DURATION.source }
    case 'integer':
      return { type: 'integer', ...(shape.minimum === undefined ? {} : { minimum: shape.minimum }) }
    case 'boolean':
      return { type: 'boolean' }
    case 'list':
      return { type: 'array', items: jsonSchema(shape.element) }
    case 'map':
      return { type: 'object', additionalProperties: jsonSchema(shape.value) }
    case 'object':
      return objectSchema(shape)
    case 'optional':
      return jsonSchema(shape.inner)
    case 'nullable':
      return { anyOf: [jsonSchema(shape.inner), { type: 'null' }] }
    case 'json':
      return {}
  }
}

function objectSchema(shape: ObjectNode): JsonObject {
  const properties: JsonObject = {}
  const required: string[] = []
  for (const [key, field] of Object.entries(shape.fields)) {
    properties[key] = jsonSchema(field)
    if (field.kind !== 'optional') required.push(key)
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}
