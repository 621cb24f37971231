// Every setting by name: its path in the file and its environment variable. The variable is derived, never chosen:
// secretsStore.api.roleId is HOLDFAST_SECRETS_STORE_API_ROLE_ID.

import { childPath } from '@holdfast/contract'
import { configShape } from './schema.ts'
import { innerNode, isSection, type SettingNode } from './setting.ts'

export interface Leaf {
  readonly keys: readonly string[]
  /** As faults and the guide write it: `listen.port`. */
  readonly path: string
  readonly variable: string
  readonly node: SettingNode
}

export const UNKNOWN_NAME = '<unknown name>'
export const VARIABLE_PREFIX = 'HOLDFAST_'

/** The settings that one value, or one variable, gives. A list of objects and a map are one setting each. */
export const configLeaves: readonly Leaf[] = collectLeaves(configShape, [])

const secretPaths: readonly string[] = configLeaves
  .filter(({ node }) => node.setting?.secret === true || node.setting?.secretFile === true)
  .map(({ path }) => path)

/** All names that the guide must mention: the leaves, and the fields of what a list of objects holds. */
export function settingNames(): string[] {
  return configLeaves.flatMap(({ path, node }) => {
    const element = node.kind === 'list' ? innerNode(node.element) : undefined
    if (element?.kind !== 'object') return [path]
    return [path, ...Object.keys(element.fields).map((field) => `${path}[].${field}`)]
  })
}

const knownNames: readonly string[] = settingNames()
const STEP = /\["(?:[^"\\]|\\.)*"\]|\[\d+\]|\.?[A-Za-z_][A-Za-z0-9_]*/g

/** The path as far as the schema knows it. A name that it does not know may be anything, also a secret in the wrong place. */
export function showKnown(path: string): string {
  let shown = ''
  for (const [step] of path.matchAll(STEP)) {
    const general = `${shown}${step}`.replaceAll(/\[\d+\]/g, '[]').replace(/\[\]$/, '')
    if (!knownNames.some((name) => isWithin(name, general))) return childPath(shown, UNKNOWN_NAME)
    shown += step
  }
  return shown
}

/** Whether a value found at this path may hold a secret: it is one, is inside one, or a section that has one. */
export function mayHoldSecret(path: string): boolean {
  return secretPaths.some((secret) => isWithin(secret, path) || isWithin(path, secret))
}

/** Whether `path` is `outer` or inside it. The empty path is the whole configuration. */
export function isWithin(path: string, outer: string): boolean {
  if (outer === '' || path === outer) return true
  return path.startsWith(outer) && (path[outer.length] === '.' || path[outer.length] === '[')
}

function collectLeaves(section: SettingNode, keys: readonly string[]): Leaf[] {
  const node = innerNode(section)
  if (!isSection(node)) return [makeLeaf(node, keys)]
  return Object.entries(node.fields).flatMap(([name, field]) => collectLeaves(field, [...keys, name]))
}

function makeLeaf(node: SettingNode, keys: readonly string[]): Leaf {
  const path = keys.reduce(childPath, '')
  return { keys, path, variable: VARIABLE_PREFIX + keys.map(upperSnake).join('_'), node }
}

function upperSnake(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}
