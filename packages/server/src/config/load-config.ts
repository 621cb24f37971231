// Loads the configuration of a server process from a file and the environment. The result is typed or lists all faults.

import { readFileSync } from 'node:fs'
import { RESERVED_NAMES, safeField } from '@holdfast/core'
import { checkRelations } from './check-relations.ts'
import { checkSettings } from './check-settings.ts'
import type { ConfigFault } from './config-fault.ts'
import { createDraft, type PlacedFault, VARIABLE_ORDER } from './draft.ts'
import { readYamlFile } from './read-yaml.ts'
import { type Environment, type FileText, type ReadFile, resolveSettings } from './resolve-settings.ts'
import type { Config } from './schema.ts'

/** Whether identities for the secrets store must be configured, or will be issued by `init` with an operator's token. */
export type Identities = 'needed' | 'to be issued'

export interface ConfigInput {
  /** Text of the configuration file; absent if there is no file and the environment sets everything. */
  readonly text?: string
  readonly fileName?: string
  readonly env: Environment
  /** Reads a file; absent if no file may be read: a setting that names the file of a secret is then a fault. */
  readonly readFile?: ReadFile
  readonly identities?: Identities
}

/** Source of each value, by the path of its setting: `default`, `file:line:column`, or an environment variable. */
export type ConfigSources = ReadonlyMap<string, string>

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly sources: ConfigSources }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] }

/** Loads the configuration from texts, without reading the configuration file; `gatherConfig` reads that file. */
export function loadConfig({ text = '', fileName, env, readFile, identities }: ConfigInput): LoadedConfig {
  const draft = createDraft(fileName)
  const isReadable = readYamlFile(draft, text)
  resolveSettings(draft, env, readFile)
  const config = checkSettings(draft, readFile)
  checkRelations(draft, identities !== 'to be issued')
  const faults = isReadable ? draft.faults : draft.faults.filter(isIndependentOfFile)
  if (faults.length > 0) return { ok: false, faults: listFaults(faults) }
  const sources = new Map([...draft.places].map(([path, place]) => [path, place.label]))
  return { ok: true, config: withReservedNames(config as Config), sources }
}

/** Loads the configuration from `fileName`, else from the file in HOLDFAST_CONFIG, else only from the environment. */
export function gatherConfig(
  fileName: string | undefined,
  env: Environment,
  identities: Identities = 'needed',
): LoadedConfig {
  const name = fileName ?? env.HOLDFAST_CONFIG
  const input = { env, readFile: readTextFile, identities }
  if (name === undefined) return loadConfig(input)
  const found = readTextFile(name)
  if (found.kind === 'text') return loadConfig({ ...input, text: found.text, fileName: name })
  const expected = `a readable configuration file: ${found.why}`
  return { ok: false, faults: [{ kind: 'file', where: name, field: '', received: '', expected }] }
}

const WHY: { readonly [code: string]: string } = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
}

/** Reads a file that the configuration names; an unreadable file is a value with the reason. */
export function readTextFile(path: string): FileText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    return { kind: 'text', text }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { kind: 'unreadable', why: WHY[code] ?? (error instanceof TypeError ? 'it is not UTF-8' : code) }
  }
}

/** If the file cannot be parsed, only its syntax faults and faults that do not depend on its settings are reported. */
function isIndependentOfFile({ kind, field, order }: PlacedFault): boolean {
  if (order < VARIABLE_ORDER) return kind === 'syntax' || field === ''
  return kind !== 'missing' && kind !== 'conflict'
}

function listFaults(faults: readonly PlacedFault[]): ConfigFault[] {
  return faults
    .toSorted((one, other) => one.order - other.order)
    .map(({ order: _, ...fault }) => ({ ...fault, field: safeField(fault.field) }))
}

/** Puts the names that the platform reserves before the configured ones; the configuration cannot remove them. */
function withReservedNames(config: Config): Config {
  const added = config.reservedNames.filter((name) => !RESERVED_NAMES.includes(name))
  return { ...config, reservedNames: [...RESERVED_NAMES, ...added] }
}
