// The environment over the file: each setting has one derived variable, and a variable with our prefix that is no
// setting is a fault, because a misspelt one would otherwise do nothing in silence.

import { childPath, nearestName } from '@holdfast/contract'
import { receivedUnknown } from './config-fault.ts'
import {
  addFault,
  type Draft,
  forgetPlaces,
  getValue,
  isTree,
  type Place,
  setValue,
  VARIABLE_ORDER,
} from './draft.ts'
import { configLeaves, type Leaf, VARIABLE_PREFIX } from './leaves.ts'
import { readJsonVariable } from './read-yaml.ts'
import type { SettingNode } from './setting.ts'

export type Environment = { readonly [name: string]: string | undefined }

/** Ours, but read by the command line, the client, the agent and the tests. */
const OTHER_VARIABLES: readonly string[] = [
  'HOLDFAST_CONFIG',
  'HOLDFAST_URL',
  'HOLDFAST_TOKEN',
  'HOLDFAST_TENANT',
  'HOLDFAST_CONTEXT',
  'HOLDFAST_CONTEXTS_FILE',
  'HOLDFAST_CA_FILE',
  'HOLDFAST_JOIN_TOKEN',
  'HOLDFAST_SEED',
  'HOLDFAST_ENGINES',
  'HOLDFAST_LONG',
]

/** What the tools of the secrets store read too; taken when neither file nor HOLDFAST_ variable names an address. */
const STORE_ADDRESS_VARIABLES: readonly string[] = ['BAO_ADDR', 'VAULT_ADDR']
const STORE_ADDRESS = ['secretsStore', 'address']

const WHOLE_NUMBER = /^-?\d{1,16}$/

export function applyEnvironment(draft: Draft, env: Environment): void {
  const leaves = new Map(configLeaves.map((leaf) => [leaf.variable, leaf]))
  const names = Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX))
    .sort()
  for (const [index, name] of names.entries()) {
    const text = env[name]
    const place = { label: name, order: VARIABLE_ORDER + index }
    const leaf = leaves.get(name)
    if (text === undefined || OTHER_VARIABLES.includes(name)) continue
    if (leaf === undefined) refuseUnknown(draft, place, [...leaves.keys()])
    else applyVariable(draft, leaf, text, place)
  }
  applyStoreAddress(draft, env)
}

function applyVariable(draft: Draft, leaf: Leaf, text: string, place: Place): void {
  const { node, path } = leaf
  const structured = node.kind === 'map' || (node.kind === 'list' && node.element.kind === 'object')
  const value = structured ? readJsonVariable(draft, text, path, place) : parseVariable(node, text)
  if (node.kind !== 'map' || !isTree(value)) {
    replaceValue(draft, leaf.keys, value, place)
    return
  }
  // A map's variable replaces the entries that it names and leaves the file's others.
  for (const [name, entry] of Object.entries(value)) replaceValue(draft, [...leaf.keys, name], entry, place)
}

function replaceValue(draft: Draft, keys: readonly string[], value: unknown, place: Place): void {
  const path = keys.reduce(childPath, '')
  forgetPlaces(draft, path)
  if (setValue(draft, keys, value)) draft.values.set(path, place)
}

/** A text that is not of the setting's type stays a text, and is then refused as one. */
function parseVariable(node: SettingNode, text: string): unknown {
  if (node.kind === 'integer') return WHOLE_NUMBER.test(text) ? Number(text) : text
  if (node.kind === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  if (node.kind !== 'list') return text
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

function refuseUnknown(draft: Draft, place: Place, known: readonly string[]): void {
  const suggestion = nearestName(place.label, [...known, ...OTHER_VARIABLES])
  addFault(draft, place, {
    kind: 'unknown',
    field: '',
    received: receivedUnknown(''),
    expected: `a variable of a setting: ${VARIABLE_PREFIX} and its path`,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}

function applyStoreAddress(draft: Draft, env: Environment): void {
  if (getValue(draft, STORE_ADDRESS) !== undefined) return
  const name = STORE_ADDRESS_VARIABLES.find((candidate) => env[candidate])
  if (name === undefined) return
  const place = { label: name, order: VARIABLE_ORDER }
  if (setValue(draft, STORE_ADDRESS, env[name])) draft.values.set(STORE_ADDRESS.join('.'), place)
}
