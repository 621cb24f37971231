// One variable, one source: a constant, a template or a key of a secret. Where the keys of a document are known they are
// compared; where not, the container is not made (SAFETY 2 row 8). What a rotation adds to a declared secret, NAME_key_NEXT and
// NAME_key_PREVIOUS, is kept free for it whatever its keys are. DECISIONS 3, environment_key_conflict.

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
  /** Those that came with this body: more may be in the store. */
  readonly keys: ReadonlySet<string>
}

/** By variable: where it comes from, in words of the body. */
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

/** The entry that would give this variable in a rotation. */
function keeperOf(variable: string, declared: readonly Declared[]): string | undefined {
  const keeper = declared.find(({ name }) => rotatedKey(variable, name) !== undefined)
  return keeper === undefined ? undefined : `a rotation of secrets[${keeper.index}]`
}

const SUFFIXES = ['_NEXT', '_PREVIOUS']

/** The key of `NAME_key_NEXT` and its like. */
function rotatedKey(variable: string, name: string): string | undefined {
  if (!variable.startsWith(`${name}_`)) return undefined
  const suffix = SUFFIXES.find((each) => variable.endsWith(each))
  const key = suffix === undefined ? '' : variable.slice(name.length + 1, -suffix.length)
  return isEnvironmentKey(key) ? key : undefined
}

/** Each entry against those before it: `DB` with `X_Y` and `DB_X` with `Y` are one variable. */
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

/** The limit is on all variables of a container together; of secrets only the store knows the size. */
function tooLarge(merged: JsonObject, _sent: JsonObject, { limits }: AdmissionContext): CrossRefusal[] {
  const { environment, composedEnvironment } = merged
  if (!isJsonObject(composedEnvironment)) return []
  const max = limits.environmentBytes
  const bytes =
    environmentBytes(composedEnvironment) + (isJsonObject(environment) ? environmentBytes(environment) : 0)
  if (bytes <= max) return []
  return [{ path: ['composedEnvironment'], value: composedEnvironment, params: { max } }]
}
