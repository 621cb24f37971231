// The configuration of one server process from the text of its file and its environment: complete and typed, or every
// fault at once. Pure over its inputs; gather-config.ts reads the world.

import { RESERVED_NAMES, safeField } from '@holdfast/core'
import { secret } from '../ports/secret.ts'
import { checkRelations } from './check-relations.ts'
import { checkTypes, checkValues } from './check-values.ts'
import type { ConfigFault } from './config-fault.ts'
import { createDraft, type Draft, isTree, type PlacedFault, VARIABLE_ORDER } from './draft.ts'
import { fillDefaults } from './fill-defaults.ts'
import { applyEnvironment, type Environment } from './read-environment.ts'
import { checkNamedFiles, noFiles, type ReadFile, readSecretFiles } from './read-secret-files.ts'
import { readYamlFile } from './read-yaml.ts'
import { type Config, configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'

/** Whether the roles must have theirs in the secrets store already. */
export type Identities = 'needed' | 'to be issued'

export interface ConfigInput {
  /** Absent: there is no file, the environment gives everything. */
  readonly text?: string
  readonly fileName?: string
  readonly env: Environment
  /** Without it no file is looked at, and a setting that gives a secret by its file is a fault. */
  readonly readFile?: ReadFile
  readonly identities?: Identities
}

/** Path of a setting to where its value came from: `default`, `file:line:column`, a variable. */
export type ConfigSources = ReadonlyMap<string, string>

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly sources: ConfigSources }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] }

export function loadConfig(input: ConfigInput): LoadedConfig {
  const draft = createDraft(input.fileName)
  const sound = readYamlFile(draft, input.text ?? '')
  applyEnvironment(draft, input.env)
  fillDefaults(draft)
  readSecretFiles(draft, input.readFile ?? noFiles)
  checkTypes(draft)
  checkValues(draft)
  if (input.readFile !== undefined) checkNamedFiles(draft, input.readFile)
  checkRelations(draft, input.identities !== 'to be issued')
  const faults = sound ? draft.faults : draft.faults.filter(isCertain)
  if (faults.length > 0) return { ok: false, faults: listFaults(faults) }
  const sources = new Map([...draft.values].map(([path, place]) => [path, place.label]))
  return { ok: true, config: makeConfig(draft), sources }
}

/** When the file cannot be read as settings, only what does not depend on it is told beside that. */
function isCertain({ kind, field, order }: PlacedFault): boolean {
  if (order < VARIABLE_ORDER) return kind === 'syntax' || field === ''
  return kind !== 'missing' && kind !== 'conflict'
}

function listFaults(faults: readonly PlacedFault[]): ConfigFault[] {
  return faults
    .toSorted((one, other) => one.order - other.order)
    .map(({ order: _, ...fault }) => ({ ...fault, field: safeField(fault.field) }))
}

/** A decoder: the checks above are what makes the draft's root a Config. */
function makeConfig(draft: Draft): Config {
  const config = toTyped(configShape, draft.root) as Config
  return { ...config, reservedNames: withOurNames(config.reservedNames) }
}

/** Ours come first and cannot be removed. DECISIONS 3. */
function withOurNames(names: readonly string[]): string[] {
  return [...RESERVED_NAMES, ...names.filter((name) => !RESERVED_NAMES.includes(name))]
}

/** Plain copies, so that no two configurations share a default, with each secret in its wrapper. */
function toTyped(field: SettingNode, value: unknown): unknown {
  const node = innerNode(field)
  if (node.setting?.secret === true) return secret(String(value))
  if (node.kind === 'list' && Array.isArray(value))
    return value.map((element) => toTyped(node.element, element))
  if (!isTree(value)) return value
  const names = node.kind === 'object' ? Object.keys(node.fields) : Object.keys(value)
  const entries = names
    .filter((name) => value[name] !== undefined)
    .map((name) => [name, toTyped(fieldOf(node, name), value[name])])
  return Object.fromEntries(entries)
}

function fieldOf(node: SettingNode, name: string): SettingNode {
  if (node.kind === 'map') return node.value
  return (node.kind === 'object' ? node.fields[name] : undefined) ?? { kind: 'json' }
}
