// Is every value of its type, within its bounds and of its form? Types come from the shape, the rest from the settings
// written on its nodes. Per value only the first failing rule, in the order type, form, range.

import {
  childPath,
  describeShape,
  elementPath,
  findShapeFaults,
  nearestName,
  type ShapeFault,
} from '@holdfast/contract'
import { quoteReceived, receivedUnknown } from './config-fault.ts'
import { addFault, type Draft, isTree, placeOf, placeOfName } from './draft.ts'
import { configLeaves, UNKNOWN_NAME } from './leaves.ts'
import { configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'

const SHOWABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

export function checkTypes(draft: Draft): void {
  for (const fault of findShapeFaults(configShape, draft.root)) {
    if (fault.kind === 'unknown') refuseUnknown(draft, fault)
    else if (fault.kind === 'missing') refuseMissing(draft, fault)
    else refuse(draft, 'type', fault.path, fault.value, fault.expected)
  }
}

/** Skips what is not of its type: that is told already. */
export function checkValues(draft: Draft): void {
  checkNode(draft, configShape, draft.root, '')
}

function checkNode(draft: Draft, field: SettingNode, value: unknown, path: string): void {
  const node = innerNode(field)
  if (node.kind === 'object' && isTree(value)) {
    for (const [name, inner] of Object.entries(node.fields))
      checkNode(draft, inner, value[name], childPath(path, name))
  }
  if (node.kind === 'string' && typeof value === 'string') checkText(draft, node, value, path)
  if (node.kind === 'integer' && typeof value === 'number') checkRange(draft, node, value, path)
  if (node.kind === 'list' && Array.isArray(value)) checkList(draft, node, value, path)
  if (node.kind === 'map' && isTree(value)) checkMap(draft, node, value, path)
}

function checkText(
  draft: Draft,
  node: SettingNode & { readonly kind: 'string' },
  value: string,
  path: string,
): void {
  const form = node.setting?.form
  if (node.values !== undefined && !node.values.includes(value)) {
    const suggestion = nearestName(value, node.values)
    refuse(draft, 'form', path, value, describeShape(node), suggestion)
  }
  if (form !== undefined && !form.test(value)) refuse(draft, 'form', path, value, form.accepts)
}

function checkRange(draft: Draft, { setting }: SettingNode, value: number, path: string): void {
  const minimum = setting?.minimum ?? Number.MIN_SAFE_INTEGER
  const maximum = setting?.maximum ?? Number.MAX_SAFE_INTEGER
  if (value >= minimum && value <= maximum) return
  refuse(draft, 'range', path, value, `a whole number from ${minimum} to ${maximum}`)
}

function checkList(
  draft: Draft,
  node: SettingNode & { readonly kind: 'list' },
  value: readonly unknown[],
  path: string,
): void {
  const minimum = node.setting?.minimum ?? 0
  if (value.length < minimum) refuse(draft, 'range', path, value, `a list of at least ${minimum}`)
  value.forEach((element, index) => {
    const at = elementPath(path, index)
    checkNode(draft, node.element, element, at)
    const repeated = node.setting?.distinct === true && value.indexOf(element) !== index
    if (repeated) refuse(draft, 'duplicate', at, element, 'each element once')
  })
}

function checkMap(
  draft: Draft,
  node: SettingNode & { readonly kind: 'map' },
  value: { readonly [key: string]: unknown },
  path: string,
): void {
  const form = node.setting?.form
  for (const [key, inner] of Object.entries(value)) {
    const at = childPath(path, key)
    if (form !== undefined && !form.test(key)) {
      addFault(draft, placeOfName(draft, at), {
        kind: 'form',
        field: at,
        received: quoteReceived(at, key),
        expected: form.accepts,
      })
    }
    checkNode(draft, node.value, inner, at)
  }
}

function refuse(
  draft: Draft,
  kind: 'type' | 'range' | 'form' | 'duplicate',
  field: string,
  value: unknown,
  expected: string,
  suggestion?: string,
): void {
  addFault(draft, placeOf(draft, field), {
    kind,
    field,
    received: quoteReceived(field, value),
    expected,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}

function refuseMissing(draft: Draft, { path, expected }: ShapeFault): void {
  const leaf = configLeaves.find((candidate) => candidate.path === path)
  const secret = leaf?.node.setting?.secret === true ? ` (or ${path}File)` : ''
  const variable = leaf === undefined ? '' : `, here or by ${leaf.variable}`
  const accepts = leaf?.node.setting?.form?.accepts ?? expected
  addFault(draft, placeOf(draft, path), {
    kind: 'missing',
    field: path,
    received: '',
    expected: `${accepts}${secret}${variable}`,
  })
}

/** NOTE `{password:hunter2}` is a name without a value in YAML: a name that looks like no name is not quoted either. */
function refuseUnknown(draft: Draft, { path, value, expected }: ShapeFault): void {
  const { parent, name } = splitPath(path)
  const siblings = expected.replace(/^one of /, '').split(', ')
  const suggestion = nearestName(name, siblings) ?? elsewhere(name)
  const shown = SHOWABLE_NAME.test(name) && (value !== null || suggestion !== undefined)
  addFault(draft, placeOfName(draft, path), {
    kind: 'unknown',
    field: shown ? path : childPath(parent, UNKNOWN_NAME),
    received: receivedUnknown(value ?? undefined),
    expected,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}

/** A setting of that very name in another section. */
function elsewhere(name: string): string | undefined {
  return configLeaves.find((leaf) => leaf.keys.at(-1) === name)?.path
}

function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const plain = /^(?:(.*)\.)?([A-Za-z_][A-Za-z0-9_]*)$/s.exec(path)
  if (plain !== null) return { parent: plain[1] ?? '', name: plain[2] ?? '' }
  return { parent: path.slice(0, Math.max(0, path.indexOf('["'))), name: '' }
}
