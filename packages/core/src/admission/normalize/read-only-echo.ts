// Reports read-only fields of a sent record that differ from the stored one, so that the client knows they had no
// effect.

import {
  type Alteration,
  canonicalJson,
  type DeploymentRecord,
  type Json,
  type JsonObject,
  READ_ONLY_FIELDS,
} from '@holdfast/contract'
import { describeReceived } from '../../credentials/index.ts'

const WHY = 'Only the server writes this field; the sent value was ignored.'

/** A different `uid` is rejected before. */
export function explainIgnoredReadOnly(sent: JsonObject, current: DeploymentRecord): Alteration[] {
  const stored: JsonObject = current
  return READ_ONLY_FIELDS.flatMap((field): Alteration[] => {
    const [from, to] = [sent[field], stored[field] ?? null]
    if (from === undefined || canonicalJson(from) === canonicalJson(to)) return []
    return [{ code: 'read_only_ignored', field, from: quoted(field, from), to, why: WHY }]
  })
}

/**
 * Alterations are logged and an ignored field may hold anything, so text is redacted. Whole numbers that are too large
 * for JSON become text too.
 */
function quoted(field: string, value: Json): Json {
  const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? value : describeReceived(field, value)
}
