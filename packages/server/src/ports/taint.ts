// Tracks the secret values of a request while it runs. No response, log line or record of the request may contain a
// tracked value in any encoding; only the secrets store receives the values. See docs/design/secrets.md#taint-guard.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isJsonObject, type Json } from '@holdfast/contract'

/** Minimum length of a tracked value; shorter values occur in responses by chance. */
const MIN_BYTES = 8
/**
 * Pattern of short plain words, which are not tracked as secrets because they may name anything: a user called `postgres`
 * must not block responses that name the image `postgres`.
 */
const WORD = /^[a-z0-9._:/-]{1,19}$/

interface Taint {
  /** The texts to search for: for each tracked value, the value itself and its encodings. */
  readonly needles: Map<string, readonly string[]>
  /** Public texts of the request. A value that occurs in a public text is not tracked. */
  readonly publicText: string
}

const requests = new AsyncLocalStorage<Taint>()

/**
 * Runs a request with its own tracked values; a request without secret values costs nothing. `open` are texts that
 * responses contain in any case: the URL, the caller and the public words of the API.
 */
export function underTaint<T>(body: Json, work: () => Promise<T>, open: readonly string[] = []): Promise<T> {
  const manifests = [body, ...listIn(body, 'documents')]
  const entries = manifests.flatMap((manifest) => [manifest, ...listIn(manifest, 'secrets')])
  if (!entries.some(hasMaterial)) return work()
  const values: string[] = []
  const publicText = [...open, JSON.stringify(withoutMaterial(body, values))].join('\n')
  return requests.run({ needles: new Map(), publicText }, async () => {
    for (const value of values) addTaint(value)
    try {
      return await work()
    } catch (error) {
      // A secret in the error must be removed now: the error is logged later, when the values are no longer tracked.
      throw error instanceof Error && isTainted(`${error.stack}`) ? new SecretLeakError(error.name) : error
    }
  })
}

/** Thrown in place of an error whose text contains a secret. */
class SecretLeakError extends Error {
  override readonly name = 'SecretLeakError'
}

/** The elements of a list in a request body; none if the field is missing or is no list. */
function listIn(body: Json, field: string): readonly Json[] {
  const value = isJsonObject(body) ? body[field] : undefined
  return Array.isArray(value) ? value : []
}

/** Whether a secret or registry credential in the request has a key that contains or requests secret values. */
const hasMaterial = (entry: Json): boolean =>
  isJsonObject(entry) && ['values', 'generate', 'password'].some((key) => Object.hasOwn(entry, key))

/** Tracks a secret value of the current request, unless the value is short, a plain word or public. */
export function addTaint(value: string): void {
  const taint = requests.getStore()
  if (taint === undefined || Buffer.byteLength(value) < MIN_BYTES || WORD.test(value)) return
  if (taint.publicText.includes(value)) return
  taint.needles.set(value, formsOf(value))
}

/** Stops tracking the values that occur in `text`. The caller passes public texts, such as a host name. */
export function declassify(text: string): void {
  const { needles } = requests.getStore() ?? {}
  for (const [value, [, escaped = value]] of needles ?? []) if (text.includes(escaped)) needles?.delete(value)
}

/**
 * Stops tracking the values that a stored record already has, such as the name of a consumer: storing or showing it again
 * reveals nothing.
 */
export function declassifyStored(record: object | undefined): void {
  if (record === undefined || (requests.getStore()?.needles.size ?? 0) === 0) return
  declassify(JSON.stringify(record))
}

/** The body with `<redacted>` in place of each text that contains a tracked value, and without members named so. */
export function redactTaint(body: Json): Json {
  if (typeof body === 'string') return isTainted(body) ? '<redacted>' : body
  if (Array.isArray(body)) return body.map(redactTaint)
  if (!isJsonObject(body)) return body
  const members = Object.entries(body).filter(([key]) => !isTainted(key))
  return Object.fromEntries(members.map(([key, member]) => [key, redactTaint(member)]))
}

export function isTainted(text: string): boolean {
  for (const forms of requests.getStore()?.needles.values() ?? [])
    if (forms.some((form) => text.includes(form))) return true
  return false
}

/** Returns the log line, or a replacement if the line contains a tracked value. */
export function withoutTaint(line: string): string {
  return isTainted(line)
    ? `${JSON.stringify({ level: 60, msg: 'log line with secret material removed' })}\n`
    : line
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const escaped = JSON.stringify(value).slice(1, -1)
  return [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((before) => encodedAt(bytes, before)),
  ]
}

/** The base64 characters of a value at byte offset `before`, without those that depend on neighboring bytes. */
function encodedAt(bytes: Buffer, before: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
  const complete = Math.floor((padded.length * 4) / 3)
  const from = before === 0 ? 0 : before + 1
  const cut = (encoding: 'base64' | 'base64url') => padded.toString(encoding).slice(from, complete)
  return [cut('base64'), cut('base64url')]
}

function withoutMaterial(body: Json, values: string[]): Json {
  if (Array.isArray(body)) return body.map((element) => withoutMaterial(element, values))
  if (!isJsonObject(body)) return typeof body === 'bigint' ? String(body) : body
  const members = Object.entries(body).map(([key, member]): [string, Json] => {
    if (key === 'values' && isJsonObject(member)) {
      values.push(...Object.values(member).filter((value) => typeof value === 'string'))
      return [key, Object.keys(member)]
    }
    if (key === 'password' && typeof member === 'string') {
      values.push(member)
      return [key, null]
    }
    return [key, withoutMaterial(member, values)]
  })
  return Object.fromEntries(members)
}
