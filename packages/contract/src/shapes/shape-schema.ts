// Describes a shape in words, for rejections, and as JSON Schema, for the OpenAPI document.

import { defined } from '../defined.ts'
import type { JsonObject } from '../json/json.ts'
import { DURATION, type ObjectNode, type ShapeNode } from './shape.ts'

/** The form that a shape accepts, in words, for the field `expected` of a rejection. */
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

/** Returns the reference that replaces the schema of a shape; undefined if the schema itself is written. */
export type ReferenceOf = (shape: ShapeNode) => string | undefined

/** The JSON Schema of a shape, for the OpenAPI document and the editors that read it. */
export function jsonSchema(shape: ShapeNode, referenceOf?: ReferenceOf): JsonObject {
  const { description, text } = shape
  const reference = referenceOf?.(shape)
  return {
    ...(reference === undefined ? schemaOf(shape, referenceOf) : { $ref: reference }),
    ...(description ? { description } : {}),
    ...(text === undefined ? {} : { ...defined({ default: text.default }), examples: [text.example] }),
  }
}

function schemaOf(shape: ShapeNode, referenceOf: ReferenceOf | undefined): JsonObject {
  switch (shape.kind) {
    case 'string':
      return {
        type: 'string',
        ...(shape.values === undefined ? {} : { enum: [...shape.values] }),
        ...defined({ pattern: shape.pattern }),
      }
    case 'duration':
      return { type: 'string', pattern: DURATION.source }
    case 'integer':
      return { type: 'integer', ...defined({ minimum: shape.minimum }) }
    case 'boolean':
      return { type: 'boolean' }
    case 'list':
      return { type: 'array', items: jsonSchema(shape.element, referenceOf) }
    case 'map':
      return { type: 'object', additionalProperties: jsonSchema(shape.value, referenceOf) }
    case 'object':
      return objectSchema(shape, referenceOf)
    case 'optional':
      return jsonSchema(shape.inner, referenceOf)
    case 'nullable':
      return { anyOf: [jsonSchema(shape.inner, referenceOf), { type: 'null' }] }
    case 'json':
      return {}
  }
}

function objectSchema(shape: ObjectNode, referenceOf: ReferenceOf | undefined): JsonObject {
  const properties: JsonObject = {}
  const required: string[] = []
  for (const [key, field] of Object.entries(shape.fields)) {
    properties[key] = jsonSchema(field, referenceOf)
    if (field.kind !== 'optional') required.push(key)
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}
