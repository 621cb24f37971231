// The manifest as a JSON Schema (draft 07) for editors: field names and types only. The platform checks all other rules.

import {
  deploymentBodyShape,
  type JsonObject,
  jsonSchema,
  object,
  optional,
  type Shape,
} from '@holdfast/contract'

const REQUIRED = new Set(['kind', 'name', 'image'])

export function manifestSchema(): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
      name,
      REQUIRED.has(name) ? field : optional(withOptionalFields(field)),
    ]),
  )
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Holdfast deployment',
    ...jsonSchema(object(fields)),
  }
}

/** Makes the nested fields of a manifest schema optional, because the server fills in defaults. */
function withOptionalFields(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return withOptionalFields(shape.inner)
  if (shape.kind === 'list') return { ...shape, element: withOptionalFields(shape.element) }
  if (shape.kind !== 'object') return shape
  return object(
    Object.fromEntries(
      Object.entries(shape.fields).map(([name, field]) => [name, optional(withOptionalFields(field))]),
    ),
  )
}
