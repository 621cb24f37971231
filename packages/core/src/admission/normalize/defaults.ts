// Defaults of deployment fields that were not sent. Each default is reported as an alteration.

import {
  type Alteration,
  deploymentTexts,
  healthCheckTexts,
  type Json,
  type JsonObject,
  secretEntryTexts,
  volumeMountTexts,
} from '@holdfast/contract'
import { ROOT_PATH } from '../facts/route-identity.ts'

const { replicas, resources, secrets, secretsVersion, stopGracePeriod, update } = deploymentTexts

/** Maps each top-level field of a deployment to the default for a request without the field. */
export const FIELD_DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['replicas', replicas.default],
  ['secrets', secrets.default],
  ['secretsVersion', secretsVersion.default],
  ['resources', resources.default],
  ['update', update.default],
  ['stopGracePeriod', stopGracePeriod.default],
])

/** Maps a sent object field to defaults for its missing members. The agent fills in the
 * others of a health check. */
export const INNER_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [
    'healthCheck',
    {
      interval: healthCheckTexts.interval.default,
      startPeriod: healthCheckTexts.startPeriod.default,
    },
  ],
  ['resources', resources.default],
  ['update', update.default],
])

/** Maps a list field to defaults for the missing members of each sent list element. */
export const ELEMENT_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['volumes', { readOnly: volumeMountTexts.readOnly.default }],
  ['routes', { path: ROOT_PATH }],
])

/** Defaults of fields missing in a sent entry of `secrets`. */
export const SECRET_ENTRY_DEFAULTS: { readonly [field: string]: string } = {
  anchor: secretEntryTexts.anchor.default,
  rotation: secretEntryTexts.rotation.default,
}

export function defaultApplied(field: string, to: Json): Alteration {
  return {
    code: 'default_applied',
    field,
    from: null,
    to,
    why: 'The field was not sent, so its default applies.',
  }
}
