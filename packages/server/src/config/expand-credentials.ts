// Expands paths of files below the folder of credentials, in which systemd puts the files that a unit names with
// LoadCredential. Only paths of files are expanded, and only this one variable.

import { childPath, elementPath } from '@holdfast/contract'
import { addFault, type Draft, isTree, type Tree } from './draft.ts'
import { configShape } from './schema.ts'
import { innerNode, type SettingNode } from './setting.ts'

const VARIABLE = 'CREDENTIALS_DIRECTORY'
/** A configured path that begins with this text is below the folder of credentials. */
const CREDENTIALS_PREFIX = `\${${VARIABLE}}/`

export function expandCredentials(draft: Draft, env: { readonly [name: string]: string | undefined }): void {
  expandSection({ draft, folder: env[VARIABLE] }, configShape, draft.root, '')
}

interface Context {
  readonly draft: Draft
  readonly folder: string | undefined
}

function expandSection(context: Context, section: SettingNode, values: Tree, path: string): void {
  if (section.kind !== 'object') return
  for (const [name, field] of Object.entries(section.fields)) {
    const [node, value, at] = [innerNode(field), values[name], childPath(path, name)]
    if (isTree(value)) expandSection(context, node, value, at)
    else if (Array.isArray(value)) expandList(context, node, value, at)
    else if (isFile(node) && typeof value === 'string' && value.startsWith(CREDENTIALS_PREFIX))
      values[name] = expand(context, value, at)
  }
}

function expandList(context: Context, node: SettingNode, values: readonly unknown[], path: string): void {
  if (node.kind !== 'list') return
  for (const [index, value] of values.entries())
    if (isTree(value)) expandSection(context, innerNode(node.element), value, elementPath(path, index))
}

const isFile = ({ setting }: SettingNode): boolean => setting?.file === true || setting?.secretFile === true

function expand({ draft, folder }: Context, value: string, path: string): string {
  if (folder) return `${folder}/${value.slice(CREDENTIALS_PREFIX.length)}`
  const expected = `a folder in the variable ${VARIABLE}, which systemd sets for a unit with LoadCredential`
  addFault(draft, 'file', path, expected, { received: value })
  return value
}
