// Checks the body of an enrollment. The body contains a credential, so unknown fields are not quoted. Values have a
// length limit, because they appear in events, logs and terminals.

import { childPath, enrollmentShape, isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { isLabelKey, isLabelValue, reject, safeKey } from '@holdfast/core'
import { checkShape, type FieldCheck } from '../check-shape.ts'
import { checkNodeName } from './check-node-name.ts'

const MAX_LABELS = 64
const VERSION = /^[\x21-\x7e]{1,63}$/

export function checkEnrollment(sent: Json): Rejection[] {
  return checkShape(enrollmentShape, sent, {
    secret: true,
    checks: {
      nodeName: checkNodeName,
      publicKey: checkKey('publicKey'),
      encryptionKey: checkKey('encryptionKey'),
      labels: checkLabels,
      engine: checkEach('engine', isVersion, 'a version: 1 to 63 visible ASCII characters'),
      capacity: checkEach('capacity', isAmount, 'a whole number, 0 or greater'),
    },
  })
}

const KEY_BYTES = 32

/**
 * Checks the encoding of a public key. Encodings that only a lenient decoder accepts are rejected, so
 * that a key has only one text form.
 */
function checkKey(field: string): FieldCheck {
  return (key) => {
    const bytes = Buffer.from(String(key), 'base64url')
    if (bytes.length === KEY_BYTES && bytes.toString('base64url') === key) return undefined
    return reject('field_type_invalid', field, key, { accepted: 'the base64url of 32 bytes' })
  }
}

function checkLabels(labels: Json): Rejection[] {
  const given = Object.entries(isJsonObject(labels) ? labels : {})
  if (given.length > MAX_LABELS) return [reject('list_too_long', 'labels', undefined, { max: MAX_LABELS })]
  return given.flatMap(([key, value]) => {
    if (isLabelKey(key) && isLabelValue(String(value))) return []
    const accepted = 'a label: a key name or prefix/name, a value of at most 253 printable ASCII characters'
    return [
      reject('field_type_invalid', childPath('labels', safeKey(key.slice(0, 256))), value, { accepted }),
    ]
  })
}

function checkEach(field: string, isValid: (value: Json) => boolean, accepted: string): FieldCheck {
  return (object) =>
    Object.entries(isJsonObject(object) ? object : {})
      .filter(([, value]) => !isValid(value))
      .map(([key, value]) => reject('field_type_invalid', `${field}.${key}`, value, { accepted }))
}

const isVersion = (value: Json): boolean => typeof value === 'string' && VERSION.test(value)
const isAmount = (value: Json): boolean => Number.isSafeInteger(value) && Number(value) >= 0
