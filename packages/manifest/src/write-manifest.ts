// Writes the spec of a stored deployment as a manifest that a person can edit.

import { deploymentBodyShape, isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { stringify } from 'yaml'

/** Written only if they hold more than the default of the server. */
const EMPTY: { readonly [field: string]: string } = {
  secrets: '[]',
  resources: '{"cpuMillis":0,"memoryBytes":0}',
}

/** The fields of a record that a manifest has, in their usual order. The pinned versions of secrets are the server's. */
export function manifestFields(record: Json): JsonObject {
  if (!isJsonObject(record)) return {}
  const fields: JsonObject = {}
  for (const name of Object.keys(deploymentBodyShape.fields)) {
    const value = record[name]
    if (value === undefined || name === 'secretsVersion' || JSON.stringify(value) === EMPTY[name]) continue
    fields[name] = value
  }
  return fields
}

export const writeManifest = (record: Json): string =>
  stringify(manifestFields(record), { lineWidth: 0, aliasDuplicateObjects: false })
