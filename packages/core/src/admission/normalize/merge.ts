// Merges an update: a sent top-level field replaces the stored one, null clears the field, and absent fields are kept.

import { type DeploymentRecord, deploymentSpecShape, type JsonObject } from '@holdfast/contract'

export const SPEC_FIELDS: readonly string[] = Object.keys(deploymentSpecShape.fields)

/** The spec to store, before defaults are added. Without a current record it is the sent body without nulls. */
export function mergeSent(sent: JsonObject, current: DeploymentRecord | undefined): JsonObject {
  const merged: JsonObject = {}
  const stored: JsonObject = current ?? {}
  for (const field of SPEC_FIELDS) {
    const value = sent[field] === undefined ? stored[field] : sent[field]
    if (value !== undefined && value !== null) merged[field] = value
  }
  return merged
}
