// Rules for a secret document, made of `values` and generated keys: each key occurs once, and the total size is
// limited. Used for a secret entry of a deployment, a secret write and a rotation.

import { isJsonObject, type Json, type JsonObject, utf8Length } from '@holdfast/contract'
import type { Limits } from '../../limits.ts'
import { generatedLength, keysOf, planOf } from '../../secrets/generate-plan.ts'
import { type CrossRefusal, type CrossRule, createRepeatCheck } from '../rule-engine/cross-rule.ts'
import type { Path } from '../rule-engine/fault-list.ts'
import { entriesOf } from './secret-lists.ts'
import { documentBytes, exceeds } from './secret-material.ts'

/** Checks one document. `holder` is the object with `values` and `generate`, `path` is the position of the object. */
type Judge = (holder: JsonObject, path: Path, limits: Limits) => CrossRefusal[]

const JUDGES: readonly { code: CrossRule['code']; field: string; judge: Judge }[] = [
  { code: 'secret_generate_key_duplicate', field: 'generate.keys[*]', judge: keysTwice },
  { code: 'secret_key_provided_and_generated', field: 'generate.keys[*]', judge: keysOfBoth },
  { code: 'secret_value_too_long', field: 'values', judge: tooLarge },
]

export const secretDocumentsRules: readonly CrossRule[] = JUDGES.map(({ code, field, judge }) => ({
  code,
  at: `secrets[*].${field}`,
  needs: [],
  refusals: (merged, _sent, { limits }) =>
    entriesOf(merged).flatMap(([index, entry]) => judge(entry, ['secrets', index], limits)),
}))

/** Document rules for a body with `values` and `generate` at its top level. */
export const writtenDocumentRules: readonly CrossRule[] = JUDGES.map(({ code, field, judge }) => ({
  code,
  at: field,
  needs: [],
  refusals: (merged, _sent, { limits }) => judge(merged, [], limits),
}))

function keysTwice({ generate }: JsonObject, path: Path): CrossRefusal[] {
  return eachKey(generate, path, createRepeatCheck())
}

function keysOfBoth({ values, generate }: JsonObject, path: Path): CrossRefusal[] {
  if (!isJsonObject(values)) return []
  return eachKey(generate, path, (key) => typeof key === 'string' && Object.hasOwn(values, key))
}

function eachKey(generate: Json | undefined, path: Path, isRefused: (key: Json) => boolean): CrossRefusal[] {
  const keys = isJsonObject(generate) && Array.isArray(generate.keys) ? generate.keys : []
  return keys.flatMap((key, index) =>
    isRefused(key) ? [{ path: [...path, 'generate', 'keys', index], value: key }] : [],
  )
}

/** Bytes that JSON adds to each member of an object: quotes, colon and comma. */
const MEMBER_BYTES = 6

/** Rejects sent and generated values that together are too large. Another rule limits the sent values alone. */
function tooLarge({ values, generate }: JsonObject, path: Path, limits: Limits): CrossRefusal[] {
  if (!isJsonObject(generate)) return []
  const perKey =
    Math.min(generatedLength(planOf(generate, limits)), limits.generateEncodedCharacters) + MEMBER_BYTES
  let bytes = isJsonObject(values) ? documentBytes(values) : 0
  for (const key of keysOf(generate)) bytes += utf8Length(key) + perKey
  const verdict = exceeds(bytes, limits.secretDocumentBytes)
  return verdict === false ? [] : [{ path: [...path, 'values'], value: values, ...verdict }]
}
