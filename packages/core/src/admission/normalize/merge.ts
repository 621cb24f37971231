// Merges an update: a top-level field that was sent replaces the stored one, null clears it, and all others are kept.

import { type DeploymentRecord, deploymentSpecShape, type JsonObject } from '@holdfast/contract'

export const SPEC_FIELDS: readonly string[] = Object.keys(deploymentSpecShape.fields)

/** The spec that would be stored, before defaults. Without a current record it is the sent body without nulls. */
export function mergeSent(sent: JsonObject, current: DeploymentRecord | undefined): JsonObject {
  const merged: JsonObject = {}
  const stored: JsonObject = current ?? {}
  for (const field of SPEC_FIELDS) {
    const value = sent[field] === undefined ? stored[field] : sent[field]
    if (value !== undefined && value !== null) merged[field] = value
  }
  return merged
}
