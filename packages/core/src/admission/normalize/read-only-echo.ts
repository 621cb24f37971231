// What of a record that was sent back is not stored and differs from the record: announced, so that nobody believes it
// took effect. DECISIONS 2, PUT.

import {
  type Alteration,
  canonicalJson,
  type DeploymentRecord,
  type Json,
  type JsonObject,
  READ_ONLY_FIELDS,
} from '@holdfast/contract'
import { describeReceived } from '../../credentials/index.ts'

const WHY = 'The server alone writes this field; what was sent for it is not stored.'

/** A different `uid` never comes here: it is refused. */
export function explainIgnoredReadOnly(sent: JsonObject, current: DeploymentRecord): Alteration[] {
  const stored: JsonObject = current
  return READ_ONLY_FIELDS.flatMap((field): Alteration[] => {
    const [from, to] = [sent[field], stored[field] ?? null]
    if (from === undefined || canonicalJson(from) === canonicalJson(to)) return []
    return [{ code: 'read_only_ignored', field, from: quoted(field, from), to, why: WHY }]
  })
}

/**
 * Text passes the redactor: an alteration is logged, and anything may stand in a field that is not looked at. So does a
 * number too large to be exact, which JSON cannot be written from.
 */
function quoted(field: string, value: Json): Json {
  const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? value : describeReceived(field, value)
}
