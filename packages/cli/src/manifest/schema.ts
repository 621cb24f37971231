// The manifest as a JSON Schema (draft 07) for editors: fields with types, texts, defaults and examples. The
// platform checks all other rules.

import {
  deploymentBodyShape,
  type JsonObject,
  jsonSchema,
  object,
  optional,
  withOptionalFields,
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
