// docs/reference/configuration.md: every setting with its default, accepted values, variable and meaning.

import { describeShape } from '@holdfast/contract'
import { configShape } from '@holdfast/server/config/schema'
import { innerNode, type SettingNode } from '@holdfast/server/config/setting'
import { mustAgree, settingRows } from '@holdfast/server/config/settings-table'
import { code, page, table } from './page.ts'

interface Row {
  readonly path: string
  readonly node: SettingNode
  readonly isOptional: boolean
  /** Path of the innermost optional section that contains the setting. */
  readonly section: string | undefined
}

const HEADERS = ['Setting', 'Default', 'Accepted', 'Variable', 'Same on all replicas', 'Meaning']
const SECRET = ' Secret: never shown.'

export function renderConfiguration(): string {
  const blocks = Object.entries(configShape.fields).flatMap(([name, field]) => [
    `## ${name}`,
    table(HEADERS, rowsOf(field, name, undefined).map(cellsOf)),
  ])
  return page('Configuration', [
    'Every setting of `holdfast-server`. [Configuring holdfast-server](../guides/configuration.md) explains the file, the environment and secrets; `holdfast-server check-config` prints the values in force and where each came from.',
    'A required setting has no default. A setting that must be the same on all replicas is not compared at start: replicas with different values accept different requests or decide differently.',
    ...blocks,
  ])
}

function rowsOf(field: SettingNode, path: string, section: string | undefined): Row[] {
  const node = innerNode(field)
  const isOptional = field.kind === 'optional'
  const inside = isOptional ? path : section
  if (node.kind === 'object') return fieldsOf(node, `${path}.`, inside)
  const element = node.kind === 'list' ? innerNode(node.element) : undefined
  const own = { path, node, isOptional, section }
  return element?.kind === 'object' ? [own, ...fieldsOf(element, `${path}[].`, undefined)] : [own]
}

function fieldsOf(
  node: SettingNode & { readonly kind: 'object' },
  prefix: string,
  section: string | undefined,
) {
  return Object.entries(node.fields).flatMap(([name, field]) => rowsOf(field, prefix + name, section))
}

function cellsOf(row: Row): string[] {
  const { path, node } = row
  const variable = settingRows.find((candidate) => candidate.path === path)?.variable
  return [
    code(path),
    defaultOf(row),
    acceptedOf(node),
    variable === undefined ? 'part of the list' : code(variable),
    mustAgree(path) ? 'yes' : 'no',
    `${node.setting?.about ?? ''}${node.setting?.secret === true ? `.${SECRET}` : ''}`,
  ]
}

function defaultOf({ path, node, isOptional, section }: Row): string {
  const value = node.setting?.default
  if (path === 'publicUrl') return 'derived from `listen`'
  if (node.kind === 'map') return Object.keys(Object(value)).map(code).join(', ')
  if (value !== undefined) {
    const shown = Array.isArray(value) ? value.join(', ') : String(value)
    return shown === '' ? 'none' : code(shown)
  }
  if (isOptional) return 'none'
  return section === undefined ? 'required' : `required in ${code(section)}`
}

function acceptedOf(field: SettingNode): string {
  const node = innerNode(field)
  const { minimum, maximum, form } = node.setting ?? {}
  if (node.kind === 'integer' && minimum !== undefined && maximum !== undefined) {
    return maximum === Number.MAX_SAFE_INTEGER ? `at least ${minimum}` : `${minimum} to ${maximum}`
  }
  if (node.kind === 'map')
    return `a map; each name is ${form?.accepts}; each value is ${acceptedOf(node.value)}`
  if (node.kind === 'list') {
    const element = innerNode(node.element)
    return element.kind === 'object' ? 'a list of objects' : `a list; each element is ${acceptedOf(element)}`
  }
  return form?.accepts ?? describeShape(node)
}
