// What nobody set: the defaults of the schema, and the one that depends on other settings.

import { childPath } from '@holdfast/contract'
import {
  addFault,
  createTree,
  type Draft,
  getValue,
  isFaulty,
  isTree,
  type Place,
  placeOf,
  type Tree,
} from './draft.ts'
import { origin } from './forms.ts'
import { configShape } from './schema.ts'
import { innerNode, isSection, type SettingNode } from './setting.ts'

const DEFAULT: Place = { label: 'default', order: 0 }
const FROM_LISTEN: Place = { label: 'from listen', order: 0 }
/** Listening on these is listening on every address; none of them can be called. */
const WILDCARDS: readonly string[] = ['0.0.0.0', '::']

/** An empty section (`metrics:` and nothing below) is a section without settings. */
export function fillDefaults(draft: Draft): void {
  fillSection(draft, configShape, draft.root, '')
  fillPublicUrl(draft)
}

function fillSection(draft: Draft, section: SettingNode, values: Tree, path: string): void {
  if (!isSection(section)) return
  for (const [name, field] of Object.entries(section.fields)) {
    fillField(draft, field, values, name, childPath(path, name))
  }
}

function fillField(draft: Draft, field: SettingNode, values: Tree, name: string, path: string): void {
  const node = innerNode(field)
  if (isSection(node)) {
    if (values[name] === null || field.kind !== 'optional') values[name] ??= createTree()
    const inner = values[name]
    if (isTree(inner)) fillSection(draft, node, inner, path)
    return
  }
  const value = node.setting?.default
  if (node.kind === 'map' && isTree(value)) fillEntries(draft, value, values, name, path)
  if (value === undefined || values[name] !== undefined) return
  values[name] = value
  draft.values.set(path, DEFAULT)
}

function fillEntries(draft: Draft, shipped: Tree, values: Tree, name: string, path: string): void {
  values[name] ??= createTree()
  const entries = values[name]
  if (!isTree(entries)) return
  for (const [key, value] of Object.entries(shipped)) {
    if (entries[key] !== undefined) continue
    entries[key] = value
    draft.values.set(childPath(path, key), DEFAULT)
  }
}

function fillPublicUrl(draft: Draft): void {
  if (draft.root.publicUrl !== undefined || isFaulty(draft, 'publicUrl')) return
  const host = getValue(draft, ['listen', 'host'])
  if (typeof host === 'string' && WILDCARDS.includes(host)) requirePublicUrl(draft)
  else derivePublicUrl(draft, String(host), getValue(draft, ['listen', 'port']))
}

function derivePublicUrl(draft: Draft, host: string, port: unknown): void {
  const scheme = getValue(draft, ['listen', 'tls']) === undefined ? 'http' : 'https'
  const derived = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  // What is wrong with listen is told there and not a second time here.
  draft.root.publicUrl = origin.test(derived) ? derived : 'http://127.0.0.1:8080'
  draft.values.set('publicUrl', FROM_LISTEN)
}

function requirePublicUrl(draft: Draft): void {
  addFault(draft, placeOf(draft, 'listen.host'), {
    kind: 'missing',
    field: 'publicUrl',
    received: '',
    expected: 'the address that clients use, since listen.host is every address and none that can be called',
  })
}
