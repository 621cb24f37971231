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
  type Shape,
  withOptionalFields,
} from '@holdfast/contract'
import {
  jobDocumentShape,
  networkDocumentShape,
  QUANTITY_BLOCKS,
  QUANTITY_FIELDS,
  volumeDocumentShape,
} from '@holdfast/manifest'

const REQUIRED = new Set(['kind', 'name', 'image'])

/** Documents of the kinds Volume, Network and Job have fields of their own; every other document has those of a deployment. */
export function manifestSchema(): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Holdfast manifest',
    ...ofKind('Volume', jsonSchema(volumeDocumentShape)),
    else: {
      ...ofKind('Network', jsonSchema(networkDocumentShape)),
      else: {
        ...ofKind('Job', workloadSchema(jobDocumentShape.fields)),
        else: workloadSchema(deploymentBodyShape.fields),
      },
    },
  }
}

const ofKind = (kind: string, schema: JsonObject): JsonObject => ({
  if: { properties: { kind: { const: kind } }, required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema for the fields of the condition above.
  then: schema,
})

/** The schema of a deployment or a job. */
function workloadSchema(shapes: { readonly [field: string]: Shape<unknown> }): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(shapes).map(([name, field]) => [
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
