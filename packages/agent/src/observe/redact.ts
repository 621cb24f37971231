// Removes known secret values from text that will be reported: the output of a health check, an error of the engine. Such
// text belongs to the tenant, but a record must not contain a secret value, in any encoding that programs commonly print.
// See docs/design/secrets.md#output-of-containers

import { type ContainerTemplate, cleanCause, type DesiredItem } from '@holdfast/contract'
import { needsEnvironment } from '@holdfast/core/node'
import type { BoundedText, Engine } from '../ports/engine.ts'

export const REDACTED = '[redacted]'

/** Shorter values occur in ordinary words; they are replaced only where they are a whole word. */
const MIN_PART = 4
/** Single lines of a value with several lines, such as a private key, are secret from this length. */
const MIN_LINE = 8

/** The values of a container's environment that come from secrets. `environment` has the form `NAME=value`. */
export function secretValues(
  { secrets = [], composedEnvironment = {} }: Pick<ContainerTemplate, 'secrets' | 'composedEnvironment'>,
  environment: readonly string[],
): string[] {
  return environment.flatMap((variable) => {
    const at = variable.indexOf('=')
    const name = variable.slice(0, at)
    const isSecret =
      Object.hasOwn(composedEnvironment, name) || secrets.some((secret) => name.startsWith(`${secret.name}_`))
    return isSecret ? [variable.slice(at + 1)] : []
  })
}

const WITHHELD = 'withheld: the secret values to remove from the text could not be read'

/** A text of the engine about an existing container as it may be reported: one bounded line without secret values. */
export async function reportedText(
  engine: Pick<Engine, 'readEnvironment'>,
  item: DesiredItem,
  containerId: string,
  given: BoundedText,
): Promise<string> {
  if (given.text === '' || !needsEnvironment(item)) return cleanCause(given.text)
  try {
    return cleanCause(redact(given, secretValues(item.template, await engine.readEnvironment(containerId))))
  } catch {
    return WITHHELD
  }
}

export const redact = (given: BoundedText, values: readonly string[]): string =>
  createRedaction(values)(given)

/** Returns a function that removes the values. Their encodings are computed once, because a log has many lines. */
export function createRedaction(values: readonly string[]): (given: BoundedText) => string {
  const forms = [...new Set(values.flatMap(partsOf).flatMap(formsOf))].sort(
    (left, right) => right.length - left.length,
  )
  return ({ text, isCut }) => forms.reduce(replaceForm, isCut ? dropUnfinished(text, forms) : text)
}

const partsOf = (value: string): string[] => [
  value,
  ...value.split(/\r?\n/).filter((line) => line !== value && line.trim().length >= MIN_LINE),
]

function replaceForm(text: string, form: string): string {
  if (form === '' || !text.includes(form)) return text
  if (form.length >= MIN_PART) return text.replaceAll(form, REDACTED)
  const escaped = form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu'), REDACTED)
}

/** Drops the end of a cut text if it is the beginning of a secret value. */
function dropUnfinished(text: string, forms: readonly string[]): string {
  let drop = 0
  for (const form of forms)
    for (let length = Math.min(form.length - 1, text.length); length > drop; length -= 1)
      if (text.endsWith(form.slice(0, length))) drop = length
  return drop === 0 ? text : text.slice(0, -drop)
}

/** A value and its encodings: escaped once and twice, in a URL, in hex, and in base64 at any offset. */
function formsOf(value: string): string[] {
  if (value === '') return []
  const bytes = Buffer.from(value)
  const escaped = JSON.stringify(value).slice(1, -1)
  const plain = [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ]
  if (bytes.length < MIN_PART) return plain
  const hex = bytes.toString('hex')
  return [...plain, hex, hex.toUpperCase(), ...[0, 1, 2].flatMap((before) => base64At(bytes, before))]
}

/** The base64 characters of a value at byte offset `before`, without those that depend on neighboring bytes. */
function base64At(bytes: Buffer, before: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
  const complete = Math.floor((padded.length * 4) / 3)
  const from = before === 0 ? 0 : before + 1
  const forms = (['base64', 'base64url'] as const).map((encoding) =>
    padded.toString(encoding).slice(from, complete),
  )
  return forms.filter(({ length }) => length >= MIN_PART)
}
