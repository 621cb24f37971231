// Every environment variable has one source: a constant, a template or a key of a secret. These rules compare the known
// keys; a conflict with an unknown key prevents the creation of the container. NAME_key_NEXT and NAME_key_PREVIOUS
// are reserved for rotations of declared secrets.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { safeKey } from '../../credentials/index.ts'
import { isEnvironmentKey } from '../../grammar.ts'
import type { Params } from '../../reject.ts'
import { keysOf } from '../../secrets/generate-plan.ts'
import type { AdmissionContext } from '../context.ts'
import type { CrossRefusal, CrossRule } from '../rule-engine/cross-rule.ts'
import { environmentBytes } from './environment.ts'
import { entriesOf } from './secret-lists.ts'

export const constantConflictsRules: readonly CrossRule[] = [
  {
    code: 'environment_key_conflict',
    at: 'environment.*',
    needs: ['secrets'],
    refusals: (merged) => mapConflicts(merged, 'environment', givenByTemplates(merged)),
  },
  { code: 'environment_key_conflict', at: 'secrets[*].name', needs: ['secrets'], refusals: entryConflicts },
]

export const templateConflictsRules: readonly CrossRule[] = [
  {
    code: 'environment_key_conflict',
    at: 'composedEnvironment.*',
    needs: ['secrets'],
    refusals: (merged) => mapConflicts(merged, 'composedEnvironment', new Map()),
  },
  {
    code: 'environment_too_large',
    at: 'composedEnvironment',
    needs: ['environment'],
    refusals: tooLarge,
  },
]

interface Declared {
  readonly index: number
  readonly name: string
  /** The secret's keys that the request body sends or generates. The stored secret may have further keys. */
  readonly keys: ReadonlySet<string>
}

/** Maps each environment variable to the source that defines it, as a path in the body. */
type Given = ReadonlyMap<string, string>

function declaredOf(merged: JsonObject): Declared[] {
  return entriesOf(merged).flatMap(([index, { name, values, generate }]) => {
    if (typeof name !== 'string' || name === '') return []
    const provided = isJsonObject(values) ? Object.keys(values) : []
    const generated = isJsonObject(generate) ? keysOf(generate) : []
    return [{ index, name, keys: new Set([...provided, ...generated]) }]
  })
}

function givenByTemplates({ composedEnvironment }: JsonObject): Given {
  const variables = isJsonObject(composedEnvironment) ? Object.keys(composedEnvironment) : []
  return new Map(variables.map((variable) => [variable, 'composedEnvironment']))
}

function givenBySecrets(declared: readonly Declared[]): Given {
  return new Map(declared.flatMap(variablesOf))
}

function variablesOf({ index, name, keys }: Declared): [string, string][] {
  return Array.from(keys, (key) => [`${name}_${key}`, `secrets[${index}]`])
}

function mapConflicts(merged: JsonObject, field: string, beside: Given): CrossRefusal[] {
  const variables = merged[field]
  if (!isJsonObject(variables)) return []
  const declared = declaredOf(merged)
  const secrets = givenBySecrets(declared)
  return Object.keys(variables).flatMap((variable) => {
    const other = beside.get(variable) ?? secrets.get(variable) ?? keeperOf(variable, declared)
    return other === undefined
      ? []
      : [
          {
            path: [field, variable],
            value: variables[variable],
            params: { variable: safeKey(variable), other },
          },
        ]
  })
}

/** The secret entry whose rotation would define the given variable. */
function keeperOf(variable: string, declared: readonly Declared[]): string | undefined {
  const keeper = declared.find(({ name }) => rotatedKey(variable, name) !== undefined)
  return keeper === undefined ? undefined : `a rotation of secrets[${keeper.index}]`
}

const SUFFIXES = ['_NEXT', '_PREVIOUS']

/** The key in a variable name such as `NAME_key_NEXT` or `NAME_key_PREVIOUS`. */
function rotatedKey(variable: string, name: string): string | undefined {
  if (!variable.startsWith(`${name}_`)) return undefined
  const suffix = SUFFIXES.find((each) => variable.endsWith(each))
  const key = suffix === undefined ? '' : variable.slice(name.length + 1, -suffix.length)
  return isEnvironmentKey(key) ? key : undefined
}

/** Finds secret entries that define one variable: key `X_Y` of `DB` and key `Y` of `DB_X` both define `DB_X_Y`. */
function entryConflicts(merged: JsonObject): CrossRefusal[] {
  const declared = declaredOf(merged)
  const earlier = new Map<string, string>()
  return declared.flatMap((entry) => {
    const conflict = firstConflict(entry, earlier, declared)
    for (const [variable, source] of variablesOf(entry)) earlier.set(variable, source)
    return conflict === undefined
      ? []
      : [{ path: ['secrets', entry.index, 'name'], value: entry.name, params: conflict }]
  })
}

function firstConflict(entry: Declared, earlier: Given, declared: readonly Declared[]): Params | undefined {
  const others = declared.filter(({ index }) => index !== entry.index)
  for (const [variable] of variablesOf(entry)) {
    const rotated = rotatedKey(variable, entry.name)
    const keepers = rotated !== undefined && entry.keys.has(rotated) ? [...others, entry] : others
    const other = earlier.get(variable) ?? keeperOf(variable, keepers)
    if (other !== undefined) return { variable: safeKey(variable), other }
  }
  return undefined
}

/** Rejects an environment that is too large. Secret values are not counted, because only the store knows their size. */
function tooLarge(merged: JsonObject, _sent: JsonObject, { limits }: AdmissionContext): CrossRefusal[] {
  const { environment, composedEnvironment } = merged
  if (!isJsonObject(composedEnvironment)) return []
  const max = limits.environmentBytes
  const bytes =
    environmentBytes(composedEnvironment) + (isJsonObject(environment) ? environmentBytes(environment) : 0)
  if (bytes <= max) return []
  return [{ path: ['composedEnvironment'], value: composedEnvironment, params: { max } }]
}
