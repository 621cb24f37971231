// Decides which parts of a received value a rejection, an alteration or a log line may quote
// (docs/design/secrets.md#redaction).

import {
  childPath,
  elementPath,
  isJsonObject,
  type Json,
  jsonText,
  stepsOf,
  utf8Length,
} from '@holdfast/contract'
import { credentialShapeOf } from './credential-shapes.ts'
import { printable, printableKey } from './printable.ts'
import { type FieldPath, isSensitivePath } from './sensitive-field.ts'

const MAX_QUOTED = 256

/**
 * A received value as JSON text of at most 256 printable characters, strings without quotes; empty if absent. A value
 * that is or contains a possible secret is described by type and size only.
 */
export function describeReceived(field: string, value: Json | undefined): string {
  if (value === undefined) return ''
  if (holdsSecret(stepsOf(field), value)) return describeHidden(value)
  return cut(printable(cut(textOf(value))))
}

/** Describes a value by type and size only, for values that are never quoted. */
export function describeHidden(value: Json): string {
  return redacted(typeName(value), textOf(value))
}

/** Makes a map key safe for `childPath`. The key is unchanged unless it looks like a misplaced credential. */
export function safeKey(key: string): string {
  return isSecretKey(key) ? redacted('key', key) : printableKey(key)
}

/** Makes the keys in a field path safe, for paths built from keys of a request body. */
export function safeField(field: string): string {
  return stepsOf(field).reduce<string>(
    (parent, step) =>
      typeof step === 'number' ? elementPath(parent, step) : childPath(parent, safeKey(step)),
    '',
  )
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function redacted(what: string, text: string): string {
  return `<redacted ${what}, ${utf8Length(text)} bytes>`
}

function typeName(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/** Whether a value contains a possible secret. Null and empty objects cannot contain one. */
function holdsSecret(path: FieldPath, value: Json): boolean {
  if (Array.isArray(value)) return value.some((element, index) => holdsSecret([...path, index], element))
  if (isJsonObject(value)) {
    return Object.keys(value).some(
      (key) => isSecretKey(key) || holdsSecret([...path, key], value[key] ?? null),
    )
  }
  if (typeof value === 'string' && isSecretText(path.at(-1), value)) return true
  return value !== null && isSensitivePath(path)
}

/** Number of characters that are searched for secrets. A rejection quotes at most the first 256 characters. */
const MAX_JUDGED = 4096
const judgedPart = (text: string): string => (text.length > MAX_JUDGED ? text.slice(0, MAX_JUDGED) : text)

function isSecretKey(key: string): boolean {
  const judged = judgedPart(key)
  return credentialShapeOf(judged) !== undefined || hasUserinfo(judged)
}

function isSecretText(name: string | number | undefined, whole: string): boolean {
  const text = judgedPart(whole)
  if (credentialShapeOf(text) !== undefined || hasUserinfo(text)) return true
  return (name === 'image' || name === 'reference') && withoutDigest(text).includes('@')
}

/** Matches the digest of an image, even an invalid one, but not the userinfo in `user:secret@host:5000`. */
const DIGEST = /@sha(?:256|384|512):[0-9A-Za-z]{0,160}$/

function withoutDigest(text: string): string {
  const at = text.lastIndexOf('@')
  return at >= 0 && DIGEST.test(text.slice(at)) ? text.slice(0, at) : text
}

/**
 * Whether a text contains `user:password@host`, with or without a scheme. More texts match than the known credential
 * forms, because needless redaction is harmless.
 */
function hasUserinfo(text: string): boolean {
  const parts = withoutDigest(text).split('@')
  return parts.some((part, at) => at < parts.length - 1 && /:[^\s:]{1,2048}$/.test(part.slice(-2049)))
}

function cut(text: string): string {
  if (text.length <= MAX_QUOTED) return text
  const last = text.charCodeAt(MAX_QUOTED - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_QUOTED - 1 : MAX_QUOTED)
}
