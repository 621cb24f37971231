// What may a rejection, an alteration or a log line quote of what was received? DECISIONS 2 "received", SAFETY 2 row 4.

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
 * The value as JSON text, strings bare, cut at 256 characters, unprintable characters escaped; empty when absent.
 * A value that is, or holds anywhere, what may be secret is described by type and size alone.
 */
export function describeReceived(field: string, value: Json | undefined): string {
  if (value === undefined) return ''
  if (holdsSecret(stepsOf(field), value)) return describeHidden(value)
  return cut(printable(cut(textOf(value))))
}

/** Type and size alone, whatever it is: for what is never kept. */
export function describeHidden(value: Json): string {
  return redacted(typeName(value), textOf(value))
}

/** A map key for `childPath`: itself, unless someone put a credential where the name belongs. */
export function safeKey(key: string): string {
  return isSecretKey(key) ? redacted('key', key) : printableKey(key)
}

/** A whole field path with each of its keys made safe: for paths that were built from the body's own keys. */
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

/** Judged at the leaves: what holds nothing (null, an empty object) hides nothing. */
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

/** Only the first 256 characters are ever quoted; what begins there is known by then, however long the text goes on. */
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

/** Also a wrong one, which a rejection must quote; but `user:secret@host:5000` is none. */
const DIGEST = /@sha(?:256|384|512):[0-9A-Za-z]{0,160}$/

function withoutDigest(text: string): string {
  const at = text.lastIndexOf('@')
  return at >= 0 && DIGEST.test(text.slice(at)) ? text.slice(0, at) : text
}

/** `user:password@host`, with or without a scheme: wider than the shapes, because here a false alarm costs nothing. */
function hasUserinfo(text: string): boolean {
  const parts = withoutDigest(text).split('@')
  return parts.some((part, at) => at < parts.length - 1 && /:[^\s:]{1,2048}$/.test(part.slice(-2049)))
}

function cut(text: string): string {
  if (text.length <= MAX_QUOTED) return text
  const last = text.charCodeAt(MAX_QUOTED - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_QUOTED - 1 : MAX_QUOTED)
}
