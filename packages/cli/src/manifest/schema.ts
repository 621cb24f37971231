// The manifest as a JSON Schema (draft 07) for editors: fields with types, texts, defaults and examples. The
// platform checks all other rules.

import {
  deploymentBodyShape,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonSchema,
  object,
  optional,
  withOptionalFields,
} from '@holdfast/contract'
import { QUANTITY_BLOCKS, QUANTITY_FIELDS, volumeDocumentShape } from '@holdfast/manifest'

const REQUIRED = new Set(['kind', 'name', 'image'])

/** A document of kind Volume has the fields of a volume; every other document those of a deployment. */
export function manifestSchema(): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Holdfast manifest',
    if: { properties: { kind: { const: 'Volume' } }, required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema for the fields of the condition above.
    then: jsonSchema(volumeDocumentShape),
    else: deploymentSchema(),
  }
}

function deploymentSchema(): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
      name,
      REQUIRED.has(name) ? field : optional(withOptionalFields(field)),
    ]),
  )
  return withQuantities(jsonSchema(object(fields)))
}

/** Adds the quantities that manifest files may use and the API does not accept. */
function withQuantities(schema: JsonObject): JsonObject {
  const properties = { ...membersOf(schema.properties) }
  for (const block of QUANTITY_BLOCKS) {
    const inner = membersOf(properties[block])
    const quantities = QUANTITY_FIELDS.map(({ name, meaning, examples, schema: form }) => [
      name,
      { ...form, description: meaning, examples: [...examples] },
    ])
    properties[block] = {
      ...inner,
      properties: { ...membersOf(inner.properties), ...Object.fromEntries(quantities) },
    }
  }
  return { ...schema, properties }
}

const membersOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
