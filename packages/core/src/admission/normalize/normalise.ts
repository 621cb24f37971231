// Builds the spec to store from the sent fields, the kept fields and defaults. Every difference between the sent and
// the stored fields is reported as an alteration (docs/design/admission.md#normalization).

import {
  type Alteration,
  carryUnknown,
  type DeploymentRecord,
  type DeploymentSpec,
  decode,
  deploymentSpecShape,
  elementPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type Warning,
  withoutBigInts,
} from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits } from '../../limits.ts'
import { isStateful } from '../../rollout/plan-rollout-rules.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import { defaultApplied, ELEMENT_DEFAULTS, FIELD_DEFAULTS, INNER_DEFAULTS } from './defaults.ts'
import { explainGenerated } from './generated-material.ts'
import { mergeSent, SPEC_FIELDS } from './merge.ts'
import { explainIgnoredReadOnly } from './read-only-echo.ts'
import { explainResidencyLabels } from './residency-labels.ts'
import { explainShortenedLists } from './shortened-lists.ts'
import { storeSecrets } from './stored-secrets.ts'
import { explainTrivialCheck } from './trivial-check.ts'

export interface Normalised {
  readonly spec: DeploymentSpec
  readonly alterations: Alteration[]
  readonly warnings: Warning[]
  /** Secret values that were sent with the entries, in the order of the entries. They are not part of the stored spec. */
  readonly material: readonly SentMaterial[]
}

/**
 * Builds the spec of a valid body. Throws for an invalid body, so that a rejected body never becomes a spec. A rollback
 * replaces the whole spec; then members of the current spec that only a newer version knows are not kept.
 */
export function normalise(
  sent: JsonObject,
  current: DeploymentRecord | undefined,
  limits = DEFAULT_LIMITS,
  replaces: 'fields' | 'spec' = 'fields',
): Normalised {
  const alterations: Alteration[] = []
  const merged = mergeSent(sent, current)
  keepSecretsVersion(merged, sent, current, alterations)
  const material = withoutMaterial(merged, limits, alterations)
  const values: JsonObject = {}
  for (const field of SPEC_FIELDS) {
    const value = withDefaults(field, merged[field], FIELD_DEFAULTS, alterations)
    if (value !== undefined) values[field] = value
  }
  const sentSpec = stopFirst(carryUnknown(sent, decode(deploymentSpecShape, values)), alterations)
  const spec = replaces === 'spec' ? sentSpec : carryUnknown(current, sentSpec)
  alterations.push(...explainResidencyLabels(spec, current))
  if (current !== undefined) alterations.push(...explainIgnoredReadOnly(sent, current))
  const warnings = [
    ...explainTrivialCheck(sent),
    ...explainShortenedLists(sent, current),
    ...explainGenerated(sent.secrets, spec),
  ]
  return { spec, alterations, warnings, material }
}

/** Two containers must never write to one volume, so an update of a writer stops the old container first. */
function stopFirst(spec: DeploymentSpec, alterations: Alteration[]): DeploymentSpec {
  const { update } = spec
  if (!isStateful(spec) || update.order === 'stop-first') return spec
  const why = 'The deployment mounts a volume read-write, so an update stops the old container first.'
  const changed = { field: 'update.order', from: update.order, to: 'stop-first', why }
  alterations.push({ code: 'update_order_stop_first', ...changed })
  return { ...spec, update: { ...update, order: 'stop-first' } }
}

/** Removes secret values from the entries of `secrets` and returns them. */
export function withoutMaterial(
  merged: JsonObject,
  limits: Limits,
  alterations: Alteration[],
): SentMaterial[] {
  if (!Array.isArray(merged.secrets)) return []
  const { entries, material } = storeSecrets(merged.secrets, limits, alterations)
  merged.secrets = entries
  return material
}

/** The value to store for a top-level field: with its default, and with those of its members. */
export function withDefaults(
  field: string,
  value: Json | undefined,
  defaults: ReadonlyMap<string, Json>,
  alterations: Alteration[],
): Json | undefined {
  if (value === undefined) {
    const usual = defaults.get(field)
    if (usual !== undefined) alterations.push(defaultApplied(field, usual))
    return usual
  }
  const ofElements = ELEMENT_DEFAULTS.get(field)
  if (Array.isArray(value) && ofElements !== undefined)
    return value.map((element, index) =>
      isJsonObject(element) ? complete(elementPath(field, index), element, ofElements, alterations) : element,
    )
  if (!isJsonObject(value)) return value
  return complete(field, value, INNER_DEFAULTS.get(field) ?? {}, alterations)
}

/** Adds defaults for missing members of an object. Returns a copy if any member is missing, else the sent object. */
function complete(path: string, sent: JsonObject, usual: JsonObject, alterations: Alteration[]): JsonObject {
  let object = sent
  for (const [key, value] of Object.entries(usual)) {
    if (sent[key] !== undefined) continue
    object = { ...object, [key]: value }
    alterations.push(defaultApplied(`${path}.${key}`, value))
  }
  return object
}

/** Sets secretsVersion, which only a rotation raises. A create stores 0, an update keeps the stored number. */
function keepSecretsVersion(
  merged: JsonObject,
  { secretsVersion: sent }: JsonObject,
  current: DeploymentRecord | undefined,
  alterations: Alteration[],
): void {
  const isUnset = sent === undefined || (sent === null && current === undefined)
  const kept = current?.secretsVersion ?? 0
  if (!isUnset && sent !== kept) {
    const why = 'Only a rotation raises secretsVersion.'
    alterations.push({
      code: 'secrets_version_kept',
      field: 'secretsVersion',
      from: withoutBigInts(sent),
      to: kept,
      why,
    })
  }
  if (!isUnset) merged.secretsVersion = kept
}
