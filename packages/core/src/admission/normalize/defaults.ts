// The values that the server adds where nothing was sent, each with the reason it announces. DECISIONS 3, 4.

import type { Alteration, Json, JsonObject } from '@holdfast/contract'
import { ROOT_PATH } from '../facts/route-identity.ts'

const NO_RESOURCES: JsonObject = { cpuMillis: 0, memoryBytes: 0 }
const USUAL_UPDATE: JsonObject = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '300s',
}

/** Of a top-level field that is absent. */
export const FIELD_DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['replicas', 1],
  ['secrets', []],
  ['secretsVersion', 0],
  ['resources', NO_RESOURCES],
  ['update', USUAL_UPDATE],
  ['stopGracePeriod', '10s'],
])

/** Of a field inside an object that was sent without it. retries and timeout of a health check stay absent. */
export const INNER_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['healthCheck', { interval: '30s', startPeriod: '0s' }],
  ['resources', NO_RESOURCES],
  ['update', USUAL_UPDATE],
])

/** Of a field inside each object of a list that was sent without it. */
export const ELEMENT_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['volumes', { readOnly: false }],
  ['routes', { path: ROOT_PATH }],
])

/** Of a field that an entry of `secrets` was sent without. */
export const SECRET_ENTRY_DEFAULTS: { readonly [field: string]: string } = {
  anchor: 'external',
  rotation: 'restart',
}

export function defaultApplied(field: string, to: Json): Alteration {
  return { code: 'default_applied', field, from: null, to, why: 'Nothing was sent, so the default applies.' }
}
