// The values that a request brought or had made, for as long as it lasts: nothing that leaves on its behalf, but the write to
// the secrets store, may hold one of them, in any form that text takes on its way. The last of the guards, behind the strip
// and the scan of what is stored. SAFETY 4f (4).

import { AsyncLocalStorage } from 'node:async_hooks'
import { isJsonObject, type Json } from '@holdfast/contract'

/** Shorter ones occur by chance. */
const MIN_BYTES = 8
/**
 * A plain word shorter than this may be the name of anything: a user called `postgres` is not to make the image of that name
 * unspeakable. What is worth guarding is longer, or is no word.
 */
const WORD = /^[a-z0-9._:/-]{1,19}$/

interface Taint {
  /** Each value with the forms that it may take. */
  readonly needles: Map<string, readonly string[]>
  /** What anybody may see, or was also sent where anybody may see it. */
  readonly seen: string
}

const requests = new AsyncLocalStorage<Taint>()

/**
 * Carries out a request under its own taint; one that brings no material costs nothing. `open` is what is told whatever was
 * sent: the address of the request, who sends it, the platform's own words.
 */
export function underTaint<T>(body: Json, work: () => Promise<T>, open: readonly string[] = []): Promise<T> {
  const { secrets } = isJsonObject(body) ? body : {}
  const entries = [body, ...(Array.isArray(secrets) ? secrets : [])]
  if (!entries.some(bringsMaterial)) return work()
  const values: string[] = []
  const seen = [...open, JSON.stringify(withoutMaterial(body, values))].join('\n')
  return requests.run({ needles: new Map(), seen }, async () => {
    for (const value of values) addTaint(value)
    try {
      return await work()
    } catch (error) {
      // Whoever tells of it does so outside of the request.
      throw error instanceof Error && isTainted(`${error.stack}`) ? new SecretLeakError(error.name) : error
    }
  })
}

/** What went wrong said more than may be said. */
class SecretLeakError extends Error {
  override readonly name = 'SecretLeakError'
}

/** Keys under which material comes or is asked for: of a secret, and of a registry's credential. */
const bringsMaterial = (entry: Json): boolean =>
  isJsonObject(entry) && ['values', 'generate', 'password'].some((key) => Object.hasOwn(entry, key))

/** A value that was made for this request, and not sent. */
export function addTaint(value: string): void {
  const taint = requests.getStore()
  if (taint === undefined || Buffer.byteLength(value) < MIN_BYTES || WORD.test(value)) return
  if (taint.seen.includes(value)) return
  taint.needles.set(value, formsOf(value))
}

/** What the request changes and anybody may read: a host that a stored constant names is no secret by being in a document. */
export function declassify(text: string): void {
  const { needles } = requests.getStore() ?? {}
  for (const [value, [, escaped = value]] of needles ?? []) if (text.includes(escaped)) needles?.delete(value)
}

export function isTainted(text: string): boolean {
  for (const forms of requests.getStore()?.needles.values() ?? [])
    if (forms.some((form) => text.includes(form))) return true
  return false
}

/** In place of a line of the log that would have told one. */
export function withoutTaint(line: string): string {
  return isTainted(line)
    ? `${JSON.stringify({ level: 60, msg: 'a line that held secret material' })}\n`
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

/** Base64 of the value behind so many other bytes: the characters that hold bits of the value alone. */
function encodedAt(bytes: Buffer, before: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
  const whole = Math.floor((padded.length * 4) / 3)
  const from = before === 0 ? 0 : before + 1
  const cut = (encoding: 'base64' | 'base64url') => padded.toString(encoding).slice(from, whole)
  return [cut('base64'), cut('base64url')]
}

function withoutMaterial(body: Json, values: string[]): Json {
  if (Array.isArray(body)) return body.map((element) => withoutMaterial(element, values))
  if (!isJsonObject(body)) return typeof body === 'bigint' ? String(body) : body
  const rest = Object.entries(body).map(([key, member]): [string, Json] => {
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
  return Object.fromEntries(rest)
}
