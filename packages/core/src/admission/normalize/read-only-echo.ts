// Reports read-only fields of a request that differ from the stored record, so that the client knows that these fields
// had no effect.

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

/** Reports ignored read-only fields. A different `uid` is not among them, because an earlier check rejects it. */
export function explainIgnoredReadOnly(sent: JsonObject, current: DeploymentRecord): Alteration[] {
  const stored: JsonObject = current
  return READ_ONLY_FIELDS.flatMap((field): Alteration[] => {
    const [from, to] = [sent[field], stored[field] ?? null]
    if (from === undefined || canonicalJson(from) === canonicalJson(to)) return []
    return [{ code: 'read_only_ignored', field, from: quoted(field, from), to, why: WHY }]
  })
}

/**
 * The quoted value of an ignored field. Text is redacted, because alterations are logged and the field may contain a
 * secret. Whole numbers that are too large for JSON become text.
 */
function quoted(field: string, value: Json): Json {
  const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? value : describeReceived(field, value)
}
