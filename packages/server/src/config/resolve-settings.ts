// Completes the values of the configuration file: environment variables replace values, defaults fill the gaps, and
// secrets are read from the files that the configuration names.

import { childPath, nearestName } from '@holdfast/contract'
import { REDACTED } from './config-fault.ts'
import {
  addFault,
  createTree,
  type Draft,
  getValue,
  isFaulty,
  isTree,
  type Place,
  placeOf,
  setValue,
  type Tree,
  VARIABLE_ORDER,
} from './draft.ts'
import { expandCredentials } from './expand-credentials.ts'
import { filePath, origin } from './forms.ts'
import { readJsonVariable } from './read-yaml.ts'
import { configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'
import { isWithin, type SettingRow, settingRows, VARIABLE_PREFIX } from './settings-table.ts'

export type Environment = { readonly [name: string]: string | undefined }

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string }
export type ReadFile = (path: string) => FileText

/** Variables with the prefix HOLDFAST_ that are not settings: the CLI, the client, the agent or the tests read them. */
const OTHER_VARIABLES: readonly string[] =
  'CONFIG URL TOKEN TENANT CONTEXT CONTEXTS_FILE CA_FILE JOIN_TOKEN SEED ENGINES LONG PROGRAMS'
    .split(' ')
    .map((name) => VARIABLE_PREFIX + name)
/** Variables of OpenBao and Vault that set secretsStore.address if neither the file nor a HOLDFAST_ variable sets it. */
const STORE_ADDRESS_VARIABLES: readonly string[] = ['BAO_ADDR', 'VAULT_ADDR']
const STORE_ADDRESS = ['secretsStore', 'address']
const WHOLE_NUMBER = /^-?\d{1,16}$/

const DEFAULT: Place = { label: 'default', order: 0 }
/** Hosts that mean "every address" when the server listens on them; clients cannot connect to such a host. */
const WILDCARD_HOSTS: readonly unknown[] = ['0.0.0.0', '::']
/** End of the source of a secret that was read from its own file. */
export const CONTENT_OF_FILE = '(content of the file)'
/** Placeholder for a secret whose file cannot be read, so that the secret is not also reported as missing. */
const UNREAD = 'unread'

export function resolveSettings(draft: Draft, env: Environment, readFile: ReadFile | undefined): void {
  applyEnvironment(draft, env)
  openSections(draft.root, configShape)
  for (const row of settingRows) applyDefault(draft, row)
  derivePublicUrl(draft)
  expandCredentials(draft, env)
  const read = readFile ?? (() => ({ kind: 'unreadable', why: 'files are not read here' }))
  for (const row of settingRows) if (row.node.setting?.secret === true) resolveSecret(draft, row, read)
}

/** A variable HOLDFAST_... that is no setting is a fault, because a misspelled variable would silently do nothing. */
function applyEnvironment(draft: Draft, env: Environment): void {
  const rows = new Map(settingRows.map((row) => [row.variable, row]))
  const names = Object.keys(env).filter((name) => name.startsWith(VARIABLE_PREFIX))
  for (const [index, name] of names.sort().entries()) {
    const [text, row] = [env[name], rows.get(name)]
    const place = { label: name, order: VARIABLE_ORDER + index }
    if (text === undefined || OTHER_VARIABLES.includes(name)) continue
    if (row !== undefined) applyVariable(draft, row, text, place)
    else {
      const suggestion = nearestName(name, [...rows.keys(), ...OTHER_VARIABLES])
      const expected = `a variable of a setting: ${VARIABLE_PREFIX} and its path`
      addFault(draft, 'unknown', '', expected, { place, received: REDACTED, suggestion })
    }
  }
  const address = STORE_ADDRESS_VARIABLES.find((name) => env[name])
  if (address === undefined || getValue(draft, STORE_ADDRESS) !== undefined) return
  replaceValue(draft, STORE_ADDRESS, env[address], { label: address, order: VARIABLE_ORDER })
}

function applyVariable(draft: Draft, { node, keys, path }: SettingRow, text: string, place: Place): void {
  const structured = node.kind === 'map' || (node.kind === 'list' && node.element.kind === 'object')
  const value = structured ? readJsonVariable(draft, text, path, place) : parseVariable(node, text)
  if (node.kind !== 'map' || !isTree(value)) replaceValue(draft, keys, value, place)
  // The variable of a map replaces the keys that it names and keeps the other keys of the file.
  else for (const [name, entry] of Object.entries(value)) replaceValue(draft, [...keys, name], entry, place)
}

function replaceValue(draft: Draft, keys: readonly string[], value: unknown, place: Place): void {
  const path = keys.reduce(childPath, '')
  for (const places of [draft.places, draft.names])
    for (const known of places.keys()) if (isWithin(known, path)) places.delete(known)
  if (setValue(draft, keys, value)) draft.places.set(path, place)
}

/** Parses the text of a variable. A text of the wrong type is returned unchanged; the type check rejects it. */
function parseVariable(node: SettingNode, text: string): unknown {
  if (node.kind === 'integer') return WHOLE_NUMBER.test(text) ? Number(text) : text
  if (node.kind === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  if (node.kind !== 'list') return text
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

/** Creates the required sections, and treats an empty section (`metrics:` and nothing below) as present. */
function openSections(values: Tree, section: SettingNode): void {
  if (section.kind !== 'object') return
  for (const [name, field] of Object.entries(section.fields)) {
    const node = innerNode(field)
    if (node.kind !== 'object') continue
    if (values[name] === null || field.kind !== 'optional') values[name] ??= createTree()
    const inner = values[name]
    if (isTree(inner)) openSections(inner, node)
  }
}

function applyDefault(draft: Draft, { node, keys }: SettingRow): void {
  const value = node.setting?.default
  if (value === undefined) return
  const entries: [string[], unknown][] =
    node.kind === 'map' && isTree(value)
      ? Object.entries(value).map(([name, entry]) => [[...keys, name], entry])
      : [[[...keys], value]]
  for (const [at, entry] of entries) {
    if (getValue(draft, at) === undefined && setValue(draft, at, entry))
      draft.places.set(at.reduce(childPath, ''), DEFAULT)
  }
}

function derivePublicUrl(draft: Draft): void {
  if (draft.root.publicUrl !== undefined || isFaulty(draft, 'publicUrl')) return
  const [host, port, tls] = ['host', 'port', 'tls'].map((name) => getValue(draft, ['listen', name]))
  if (WILDCARD_HOSTS.includes(host)) {
    const expected = 'the address that clients use, because listen.host is a wildcard address'
    addFault(draft, 'missing', 'publicUrl', expected, { place: placeOf(draft, 'listen.host') })
    return
  }
  const address = String(host).includes(':') ? `[${host}]` : host
  const derived = `${tls === undefined ? 'http' : 'https'}://${address}:${port}`
  // If the settings below `listen` are faulty, a placeholder avoids a second fault for publicUrl.
  draft.root.publicUrl = origin.test(derived) ? derived : 'http://127.0.0.1:8080'
  draft.places.set('publicUrl', { label: 'from listen', order: 0 })
}

/** Resolves a secret set as `password` or `passwordFile`. A variable wins over the file; both in one source conflict. */
function resolveSecret(draft: Draft, { keys, path }: SettingRow, readFile: ReadFile): void {
  const fileKeys = [...keys.slice(0, -1), `${keys.at(-1)}File`]
  const field = fileKeys.reduce(childPath, '')
  const file = getValue(draft, fileKeys)
  if (file === undefined) return
  const place = placeOf(draft, field)
  if (getValue(draft, keys) !== undefined) {
    const [direct, indirect] = [placeOf(draft, path), place].map(({ order }) => order >= VARIABLE_ORDER)
    if (direct === indirect) addFault(draft, 'conflict', field, `either this or ${path}`)
    else if (direct) setValue(draft, fileKeys, undefined)
    if (!indirect || direct) return
  }
  setValue(draft, keys, readSecret(draft, field, file, readFile) ?? UNREAD)
  draft.places.set(path, { label: `${place.label} ${CONTENT_OF_FILE}`, order: place.order })
}

/** Reads the file of a secret. An invalid path is reported later and not quoted, because it may be the secret itself. */
function readSecret(draft: Draft, field: string, file: unknown, readFile: ReadFile): string | undefined {
  if (typeof file !== 'string' || !filePath.test(file)) return undefined
  const found = readFile(file)
  if (found.kind === 'text') return found.text.replace(/\r?\n$/, '')
  addFault(draft, 'file', field, `a readable file: ${found.why}`, { received: file })
  return undefined
}
