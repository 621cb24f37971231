// Reads `environment` and `env_file` of a service into variables. A variable of `environment` replaces one of a file.

import { isEnvironmentKey, safeKey } from '@holdfast/core/admission'
import { mapOf, oneOrMany, visitMembers } from '../members.ts'
import type { Report } from '../report.ts'
import { parseEnvFile } from '../source/env-file.ts'
import type { Lookup } from '../source/interpolate.ts'
import { booleanOf } from '../source/scalars.ts'
import {
  memberOf,
  scalarLike,
  textOf,
  type Written,
  type WrittenMap,
  type WrittenScalar,
} from '../source/written.ts'
import { pairsOf } from './labels.ts'

export interface Variable {
  readonly key: string
  /** The value; its text is null if the variable has none. */
  readonly value: WrittenScalar
}

export interface Surroundings {
  /** Variables of the process that runs the import. */
  readonly lookup: Lookup
  /** Contents of the files that env_file names, by the path as it is written; absent: not readable. */
  readonly files: ReadonlyMap<string, string>
}

export function readVariables(report: Report, service: WrittenMap, around: Surroundings): Variable[] {
  const files = memberOf(service, 'env_file')
  const own = memberOf(service, 'environment')
  const found = new Map<string, Variable>()
  for (const item of files === undefined ? [] : oneOrMany(files))
    for (const variable of readFile(report, item, around)) found.set(variable.key, variable)
  for (const [key, written] of own === undefined ? [] : pairsOf({ report }, own)) {
    const value = written.text === null ? inherited(key, written, around.lookup) : written
    if (isVariableName(key)) found.set(key, { key, value })
    else
      report.refused(
        written,
        'The name of a variable has letters, digits and underscores only.',
        'Rename the variable.',
      )
  }
  return [...found.values()]
}

/** A name of the form of a credential is refused, because manifests show names. */
const isVariableName = (key: string): boolean => isEnvironmentKey(key) && safeKey(key) === key

/** A variable without a value has the value of the process that runs Compose. */
function inherited(key: string, written: WrittenScalar, lookup: Lookup): WrittenScalar {
  const text = lookup(key)
  const value = scalarLike(written, text ?? null, [key])
  return text === undefined ? { ...value, unset: [key] } : value
}

/** The paths of all files that env_file of any service names, as they are written. */
export function envFilePaths(root: Written): string[] {
  const services = memberOf(root, 'services')
  const all = services?.kind === 'map' ? [...services.members.values()] : []
  return all.flatMap((service) => {
    const files = memberOf(service, 'env_file')
    return (files === undefined ? [] : oneOrMany(files)).flatMap((item) => pathOfFile(item) ?? [])
  })
}

const pathOfFile = (item: Written): string | undefined =>
  textOf(item.kind === 'map' ? memberOf(item, 'path') : item)

function readFile(report: Report, item: Written, { lookup, files }: Surroundings): Variable[] {
  const path = pathOfFile(item)
  const text = path === undefined ? undefined : files.get(path)
  const map = item.kind === 'map' ? mapOf(report, item) : undefined
  if (map !== undefined)
    visitMembers(map, { report, handlers: { path: () => {}, required: () => {}, format: () => {} } })
  if (text === undefined) {
    if (booleanOf(textOf(memberOf(map, 'required'))) === false)
      report.ignored(item, 'The file does not exist and is not required.')
    else
      report.refused(
        item,
        'The file cannot be read.',
        'Create the file, or write its variables in environment.',
      )
    return []
  }
  const raw = textOf(memberOf(map, 'format')) === 'raw'
  const variables = [...parseEnvFile(text, { lookup, raw })]
  report.changed(
    item,
    `its ${variables.length} variables are in the manifest`,
    'A manifest has no files of variables.',
  )
  return variables.flatMap(([key, value]) => {
    if (isVariableName(key)) return [{ key, value: scalarLike(item, value ?? lookup(key) ?? null, [key]) }]
    report.refused(
      item,
      'A variable of the file has a name with other characters than letters, digits and underscores.',
    )
    return []
  })
}
