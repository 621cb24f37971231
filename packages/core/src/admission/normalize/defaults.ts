// Defaults of deployment fields that were not sent. Each default is reported as an alteration.

import type { Alteration, Json, JsonObject } from '@holdfast/contract'
import { ROOT_PATH } from '../facts/route-identity.ts'

const NO_RESOURCES: JsonObject = { cpuMillis: 0, memoryBytes: 0 }
const USUAL_UPDATE: JsonObject = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '300s',
}

/** Maps each top-level field of a deployment to the default for a request without the field. */
export const FIELD_DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['replicas', 1],
  ['secrets', []],
  ['secretsVersion', 0],
  ['resources', NO_RESOURCES],
  ['update', USUAL_UPDATE],
  ['stopGracePeriod', '10s'],
])

/** Maps a sent object field to defaults for its missing members. Health check `retries` and `timeout` have none. */
export const INNER_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['healthCheck', { interval: '30s', startPeriod: '0s' }],
  ['resources', NO_RESOURCES],
  ['update', USUAL_UPDATE],
])

/** Maps a list field to defaults for the missing members of each sent list element. */
export const ELEMENT_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['volumes', { readOnly: false }],
  ['routes', { path: ROOT_PATH }],
])

/** Defaults of fields missing in a sent entry of `secrets`. */
export const SECRET_ENTRY_DEFAULTS: { readonly [field: string]: string } = {
  anchor: 'external',
  rotation: 'restart',
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
