// The manifest as a JSON Schema of draft 07, for editors. It knows types and names; the rules with their codes are the
// platform's.

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
      REQUIRED.has(name) ? field : optional(loosen(field)),
    ]),
  )
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Holdfast deployment',
    ...jsonSchema(object(fields)),
  }
}

/** What has a default need not be written. */
function loosen(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return loosen(shape.inner)
  if (shape.kind === 'list') return { ...shape, element: loosen(shape.element) }
  if (shape.kind !== 'object') return shape
  return object(
    Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, optional(loosen(field))])),
  )
}
