// Builds the environment of one container from constants, secret documents and templates. Each key of a document is
// the variable NAME_key; during a rotation NAME_key_NEXT or NAME_key_PREVIOUS is added. Templates are expanded once,
// so a value that looks like a placeholder stays unchanged. Two sources for one variable give no environment at all
// (docs/design/secrets.md#composition).

import { defined, utf8Length } from '@holdfast/contract'
import { isEnvironmentKey } from '../grammar.ts'
import { parseTemplate } from './placeholders.ts'

type Document = ReadonlyMap<string, string>

/** A secret entry of the deployment with the secret documents for its container. */
export interface EntryDocuments {
  readonly name: string
  readonly label: string
  readonly current: Document
  readonly next?: Document
  readonly previous?: Document
}

export interface EnvironmentParts {
  readonly environment: { readonly [variable: string]: string }
  readonly entries: readonly EntryDocuments[]
  readonly composedEnvironment: { readonly [variable: string]: string }
}

/** Why no environment was built. `malformed`: another program wrote a document with an unusable key or value. */
type UnresolvedCause = 'missing_key' | 'conflict' | 'too_large' | 'malformed'

export type ComposedEnvironment =
  | { readonly kind: 'ok'; readonly environment: { readonly [variable: string]: string } }
  /** `secret` is the name of the secret entry, or the variable of a constant or of a template without an entry. */
  | {
      readonly kind: 'unresolved'
      readonly secret: string
      readonly cause: UnresolvedCause
      /** Of a missing key of a declared secret: the key, and the variable whose template names it. */
      readonly missing?: MissingKey
    }

export interface MissingKey {
  readonly label: string
  readonly key: string
  readonly variable: string
}

/** The kernel's limit for one `variable=value`, minus one byte for the terminating zero. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1
/** Half of the bytes that the kernel allows for arguments and environment together. */
const MAX_ENVIRONMENT_BYTES = 1024 * 1024

/** One variable and the constant, secret entry or template that defines the variable. */
interface Variable {
  readonly variable: string
  /** Value of the variable; undefined if its template refers to a missing key. */
  readonly value: string | undefined
  readonly secret: string
  readonly missing?: MissingKey
}

export function composeEnvironment(parts: EnvironmentParts): ComposedEnvironment {
  const { environment, entries, composedEnvironment } = parts
  return join([
    ...Object.entries(environment).map(([variable, value]) => ({ variable, value, secret: variable })),
    ...entries.flatMap(variablesOf),
    ...Object.entries(composedEnvironment).map((each) => expand(each, entries)),
  ])
}

const unresolved = (secret: string, cause: UnresolvedCause, missing?: MissingKey): ComposedEnvironment => ({
  kind: 'unresolved',
  secret,
  cause,
  ...defined({ missing }),
})

function variablesOf({ name, current, next, previous }: EntryDocuments): Variable[] {
  const named = (document: Document | undefined, suffix: string): Variable[] =>
    [...(document ?? [])].map(([key, value]) => ({
      // An invalid key gives a variable with an empty name, for which no environment is built.
      variable: isEnvironmentKey(key) ? `${name}_${key}${suffix}` : '',
      value,
      secret: name,
    }))
  return [...named(current, ''), ...named(next, '_NEXT'), ...named(previous, '_PREVIOUS')]
}

/** Expands a template once. Placeholders inside inserted values are not expanded. */
function expand(
  [variable, template]: readonly [string, string],
  entries: readonly EntryDocuments[],
): Variable {
  const parts = parseTemplate(template) ?? [{ resource: '', key: '' }]
  const entryOf = (resource: string) => entries.find(({ label }) => label === resource)
  const values = parts.map((part) =>
    typeof part === 'string' ? part : entryOf(part.resource)?.current.get(part.key),
  )
  const references = parts.filter((part) => typeof part !== 'string')
  const missing = references.find(({ resource, key }) => entryOf(resource)?.current.has(key) !== true)
  const named = missing ?? references[0]
  const entry = entryOf(named?.resource ?? '')
  const lost = missing && entry && { label: entry.label, key: missing.key, variable }
  return {
    variable,
    secret: entry?.name ?? variable,
    value: missing === undefined ? values.join('') : undefined,
    ...defined({ missing: lost }),
  }
}

/** Joins variables into one object. The object has no prototype, so that `__proto__` is an ordinary variable. */
function join(variables: readonly Variable[]): ComposedEnvironment {
  const environment: { [variable: string]: string } = Object.create(null)
  let bytes = 0
  for (const { variable, value, secret, missing } of variables) {
    if (value === undefined) return unresolved(secret, 'missing_key', missing)
    if (variable === '' || value.includes('\0')) return unresolved(secret, 'malformed')
    if (Object.hasOwn(environment, variable)) return unresolved(secret, 'conflict')
    const length = utf8Length(variable) + utf8Length(value) + 1
    bytes += length
    if (length > MAX_VARIABLE_BYTES || bytes > MAX_ENVIRONMENT_BYTES) return unresolved(secret, 'too_large')
    environment[variable] = value
  }
  return { kind: 'ok', environment }
}
