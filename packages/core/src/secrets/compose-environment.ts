// The environment of one container, from its constants, the documents of its secrets and its templates. SPEC 2.4: each key
// of a document is the variable NAME_key; DECISIONS 5: while a rotation is on, NAME_key_NEXT or NAME_key_PREVIOUS beside it.
// A template is read once and what it yields never again, so that a value which looks like a placeholder stays as it is
// (SAFETY 2 row 7). Two sources of one variable, whatever they are, give no environment at all (SAFETY 2 row 8).

import { utf8Length } from '@holdfast/contract'
import { isEnvironmentKey } from '../grammar.ts'
import { parseTemplate } from './placeholders.ts'

type Document = ReadonlyMap<string, string>

/** An entry of the deployment with the documents that its container is to have. */
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

/** `malformed`: a document that was not written by us, with what no variable can hold or be called. */
type UnresolvedCause = 'missing_key' | 'conflict' | 'too_large' | 'malformed'

export type ComposedEnvironment =
  | { readonly kind: 'ok'; readonly environment: { readonly [variable: string]: string } }
  /** `secret`: the name of the entry; of a template without one that could be named, its variable. */
  | { readonly kind: 'unresolved'; readonly secret: string; readonly cause: UnresolvedCause }

/** The kernel starts nothing with a longer `variable=value`; this is a byte under its limit, for the zero at the end. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1
/** Half of what the kernel takes for arguments and environment together with the usual stack. */
const MAX_ENVIRONMENT_BYTES = 1024 * 1024

/** One variable, and the entry or template that it is from. */
interface Variable {
  readonly variable: string
  /** Undefined: a key that its template names is not there. */
  readonly value: string | undefined
  readonly secret: string
}

export function composeEnvironment(parts: EnvironmentParts): ComposedEnvironment {
  const { environment, entries, composedEnvironment } = parts
  return join([
    ...Object.entries(environment).map(([variable, value]) => ({ variable, value, secret: variable })),
    ...entries.flatMap(variablesOf),
    ...Object.entries(composedEnvironment).map((each) => expand(each, entries)),
  ])
}

const unresolved = (secret: string, cause: UnresolvedCause): ComposedEnvironment => ({
  ...{ kind: 'unresolved', secret, cause },
})

function variablesOf({ name, current, next, previous }: EntryDocuments): Variable[] {
  const named = (document: Document | undefined, suffix: string): Variable[] =>
    [...(document ?? [])].map(([key, value]) => ({
      // A key that is no variable makes one of no name, which the join refuses.
      variable: isEnvironmentKey(key) ? `${name}_${key}${suffix}` : '',
      ...{ value, secret: name },
    }))
  return [...named(current, ''), ...named(next, '_NEXT'), ...named(previous, '_PREVIOUS')]
}

/** One pass over the template: what a placeholder gives is not looked at again. */
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
  const told = missing ?? references[0]
  return {
    ...{ variable, secret: entryOf(told?.resource ?? '')?.name ?? variable },
    value: missing === undefined ? values.join('') : undefined,
  }
}

/** Over a null prototype: `__proto__` is a variable like any other. */
function join(variables: readonly Variable[]): ComposedEnvironment {
  const environment: { [variable: string]: string } = Object.create(null)
  let bytes = 0
  for (const { variable, value, secret } of variables) {
    if (value === undefined) return unresolved(secret, 'missing_key')
    if (variable === '' || value.includes('\0')) return unresolved(secret, 'malformed')
    if (Object.hasOwn(environment, variable)) return unresolved(secret, 'conflict')
    const length = utf8Length(variable) + utf8Length(value) + 1
    bytes += length
    if (length > MAX_VARIABLE_BYTES || bytes > MAX_ENVIRONMENT_BYTES) return unresolved(secret, 'too_large')
    environment[variable] = value
  }
  return { kind: 'ok', environment }
}
