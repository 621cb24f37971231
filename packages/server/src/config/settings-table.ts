// The table of all settings: path in the file, environment variable, annotated type, and whether all server replicas must
// agree. Variables are derived from paths: secretsStore.api.roleId is HOLDFAST_SECRETS_STORE_API_ROLE_ID.

import { childPath } from '@holdfast/contract'
import { configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'

export interface SettingRow {
  readonly keys: readonly string[]
  /** Path of the setting in faults and in the reference, for example `listen.port`. */
  readonly path: string
  readonly variable: string
  readonly node: SettingNode
}

export const UNKNOWN_NAME = '<unknown name>'
export const VARIABLE_PREFIX = 'HOLDFAST_'

/** One row for each setting that an environment variable can set. A list of objects and a map are one setting each. */
export const settingRows: readonly SettingRow[] = collectRows(configShape, [])

/** Settings that must be equal on all server replicas, so that all accept the same requests and find the same records. */
const SAME_ON_ALL_REPLICAS: readonly string[] = (
  'publicUrl cluster.key etcd.root etcd.quotaBytes secretsStore.namespace ' +
  'secrets registries residency limits quotas reservedNames volumes upgrade liveness retention'
).split(' ')

export const mustAgree = (path: string): boolean =>
  SAME_ON_ALL_REPLICAS.some((outer) => isWithin(path, outer))

const secretPaths: readonly string[] = settingRows
  .filter(({ node }) => node.setting?.secret === true || node.setting?.secretFile === true)
  .map(({ path }) => path)

/** Returns all names that the configuration reference must list: all settings, and the fields of the objects in lists. */
export function settingNames(): string[] {
  return settingRows.flatMap(({ path, node }) => {
    const element = node.kind === 'list' ? innerNode(node.element) : undefined
    if (element?.kind !== 'object') return [path]
    return [path, ...Object.keys(element.fields).map((field) => `${path}[].${field}`)]
  })
}

const knownNames: readonly string[] = settingNames()
const STEP = /\["(?:[^"\\]|\\.)*"\]|\[\d+\]|\.?[A-Za-z_][A-Za-z0-9_]*/g

/** Returns the path up to the first unknown name. The unknown name is hidden: it may be a secret in the wrong place. */
export function showKnown(path: string): string {
  let shown = ''
  for (const [step] of path.matchAll(STEP)) {
    const general = `${shown}${step}`.replaceAll(/\[\d+\]/g, '[]').replace(/\[\]$/, '')
    if (!knownNames.some((name) => isWithin(name, general))) return childPath(shown, UNKNOWN_NAME)
    shown += step
  }
  return shown
}

/** Reports whether the value at `path` may contain a secret: a secret setting, a part of one, or a section with one. */
export function mayHoldSecret(path: string): boolean {
  return secretPaths.some((secret) => isWithin(secret, path) || isWithin(path, secret))
}

/** Reports whether `path` equals `outer` or is inside `outer`. The empty path is the whole configuration. */
export function isWithin(path: string, outer: string): boolean {
  if (outer === '' || path === outer) return true
  return path.startsWith(outer) && (path[outer.length] === '.' || path[outer.length] === '[')
}

function collectRows(field: SettingNode, keys: readonly string[]): SettingRow[] {
  const node = innerNode(field)
  if (node.kind === 'object')
    return Object.entries(node.fields).flatMap(([name, inner]) => collectRows(inner, [...keys, name]))
  const variable = VARIABLE_PREFIX + keys.map(upperSnake).join('_')
  return [{ keys, path: keys.reduce(childPath, ''), variable, node }]
}

function upperSnake(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}
