// Checks each value against its setting: first the type, then the form, then the range. Builds the typed configuration.

import {
  childPath,
  describeShape,
  elementPath,
  findShapeFaults,
  nearestName,
  type ShapeFault,
} from '@holdfast/contract'
import { secret } from '../ports/secret.ts'
import { type ConfigFaultKind, quoteReceived, REDACTED } from './config-fault.ts'
import { addFault, type Draft, isTree, placeOf, type Tree } from './draft.ts'
import type { ReadFile } from './resolve-settings.ts'
import { configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'
import { settingRows, UNKNOWN_NAME } from './settings-table.ts'

const SHOWABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Checks the loaded settings and returns a typed copy, which is a valid Config only if the draft then has no faults. */
export function checkSettings(draft: Draft, readFile: ReadFile | undefined): unknown {
  for (const fault of findShapeFaults(configShape, draft.root)) {
    if (fault.kind === 'unknown') rejectUnknown(draft, fault)
    else if (fault.kind === 'missing') rejectMissing(draft, fault)
    else reject(draft, 'type', fault.path, fault.value, fault.expected)
  }
  return checkNode({ draft, readFile }, configShape, draft.root, '')
}

interface Context {
  readonly draft: Draft
  /** Reads a file. Undefined if files must not be read; then the server does not check that the named files exist. */
  readonly readFile: ReadFile | undefined
}

/** Checks a value against its setting. A value of the wrong type is returned unchanged after the fault is reported. */
function checkNode(context: Context, field: SettingNode, value: unknown, path: string): unknown {
  const node = innerNode(field)
  if (node.kind === 'string' && typeof value === 'string') return checkText(context, node, value, path)
  if (node.kind === 'list' && Array.isArray(value)) return checkList(context, node, value, path)
  if (node.kind === 'map' && isTree(value)) checkKeys(context, node, value, path)
  if ((node.kind === 'map' || node.kind === 'object') && isTree(value)) {
    const fields = node.kind === 'object' ? node.fields : mapObject(value, () => node.value)
    const present = Object.entries(fields).filter(([name]) => value[name] !== undefined)
    return mapObject(Object.fromEntries(present), (inner: SettingNode, name) =>
      checkNode(context, inner, value[name], childPath(path, name)),
    )
  }
  if (node.kind === 'integer' && typeof value === 'number') {
    const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = node.setting ?? {}
    if (value < minimum || value > maximum)
      reject(context.draft, 'range', path, value, `a whole number from ${minimum} to ${maximum}`)
  }
  return value
}

function checkText(
  { draft, readFile }: Context,
  node: SettingNode & { readonly kind: 'string' },
  value: string,
  path: string,
): unknown {
  const { form, file, secret: isSecret } = node.setting ?? {}
  if (node.values !== undefined && !node.values.includes(value))
    reject(draft, 'form', path, value, describeShape(node), nearestName(value, node.values))
  if (form !== undefined && !form.test(value)) reject(draft, 'form', path, value, form.accepts)
  else if (file === true && readFile !== undefined) {
    const found = readFile(value)
    if (found.kind === 'unreadable')
      addFault(draft, 'file', path, `a readable file: ${found.why}`, { received: value })
  }
  return isSecret === true ? secret(value) : value
}

function checkList(
  context: Context,
  node: SettingNode & { readonly kind: 'list' },
  value: readonly unknown[],
  path: string,
): unknown {
  const { minimum = 0, distinct } = node.setting ?? {}
  if (value.length < minimum) reject(context.draft, 'range', path, value, `a list of at least ${minimum}`)
  return value.map((element, index) => {
    const at = elementPath(path, index)
    const checked = checkNode(context, node.element, element, at)
    if (distinct === true && value.indexOf(element) !== index)
      reject(context.draft, 'duplicate', at, element, 'each element only once')
    return checked
  })
}

function checkKeys({ draft }: Context, node: SettingNode, value: Tree, path: string): void {
  const form = node.setting?.form
  for (const key of Object.keys(value)) {
    const field = childPath(path, key)
    if (form === undefined || form.test(key)) continue
    const place = draft.names.get(field) ?? placeOf(draft, field)
    addFault(draft, 'form', field, form.accepts, { place, received: quoteReceived(field, key) })
  }
}

function reject(
  draft: Draft,
  kind: ConfigFaultKind,
  field: string,
  value: unknown,
  expected: string,
  suggestion?: string,
): void {
  addFault(draft, kind, field, expected, { received: quoteReceived(field, value), suggestion })
}

function rejectMissing(draft: Draft, { path, expected }: ShapeFault): void {
  const row = settingRows.find((candidate) => candidate.path === path)
  const orFile = row?.node.setting?.secret === true ? ` (or ${path}File)` : ''
  const variable = row === undefined ? '' : `, in the file or as ${row.variable}`
  addFault(draft, 'missing', path, `${row?.node.setting?.form?.accepts ?? expected}${orFile}${variable}`)
}

/** Reports an unknown name but quotes only a likely name: in YAML `{password:hunter2}` is one name with a secret. */
function rejectUnknown(draft: Draft, { path, value, expected }: ShapeFault): void {
  const [, parent = '', name = ''] = /^(?:(.*)\.)?([A-Za-z_][A-Za-z0-9_]*)$/s.exec(path) ?? [
    path,
    path.slice(0, Math.max(0, path.indexOf('["'))),
  ]
  const siblings = expected.replace(/^one of /, '').split(', ')
  const suggestion = nearestName(name, siblings) ?? settingRows.find(({ keys }) => keys.at(-1) === name)?.path
  const isShown = SHOWABLE_NAME.test(name) && (value !== null || suggestion !== undefined)
  const field = isShown ? path : childPath(parent, UNKNOWN_NAME)
  const place = draft.names.get(path) ?? placeOf(draft, path)
  addFault(draft, 'unknown', field, expected, { place, received: value === null ? '' : REDACTED, suggestion })
}

function mapObject<V, R>(source: { readonly [key: string]: V }, change: (value: V, key: string) => R) {
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [key, change(value, key)]))
}
