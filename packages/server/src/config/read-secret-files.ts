// Secrets that the configuration only points at: `passwordFile` beside `password`, `secretIdFile` beside `secretId`.
// Whichever came from the environment wins over one from the file; two from one source contradict each other.

import { childPath } from '@holdfast/contract'
import { addFault, type Draft, getValue, type Place, placeOf, setValue, VARIABLE_ORDER } from './draft.ts'
import { filePath as isPath } from './forms.ts'
import { configLeaves, type Leaf } from './leaves.ts'

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string }
export type ReadFile = (path: string) => FileText

/** When whoever loads the configuration gives no way to read files. */
export const noFiles: ReadFile = () => ({ kind: 'unreadable', why: 'files are not read here' })

/** Stands for a secret whose file is at fault, so that it is not missing besides. No configuration comes of it. */
const UNREAD = 'unread'

export function readSecretFiles(draft: Draft, readFile: ReadFile): void {
  for (const leaf of configLeaves)
    if (leaf.node.setting?.secret === true) resolveSecret(draft, leaf, readFile)
}

/** Every file that must be there when the server starts, its content aside. */
export function checkNamedFiles(draft: Draft, readFile: ReadFile): void {
  for (const { node, keys, path } of configLeaves) {
    if (node.setting?.file === true) checkFile(draft, path, getValue(draft, keys), readFile)
  }
  const registries = getValue(draft, ['registries'])
  if (!Array.isArray(registries)) return
  registries.forEach((entry, index) => {
    checkFile(draft, `registries[${index}].ca`, entry?.ca, readFile)
  })
}

function resolveSecret(draft: Draft, { keys, path }: Leaf, readFile: ReadFile): void {
  const fileKeys = [...keys.slice(0, -1), `${keys.at(-1)}File`]
  const filePath = fileKeys.reduce(childPath, '')
  const file = getValue(draft, fileKeys)
  if (file === undefined) return
  if (getValue(draft, keys) !== undefined && !fileWins(draft, path, filePath, fileKeys)) return
  const place = placeOf(draft, filePath)
  setValue(draft, keys, readSecret(draft, filePath, file, readFile) ?? UNREAD)
  draft.values.set(path, { label: `${place.label} (content of the file)`, order: place.order })
}

/** A value that is no path is told by the checks of its form, and not quoted: it may be the secret itself. */
function readSecret(draft: Draft, filePath: string, file: unknown, readFile: ReadFile): string | undefined {
  if (typeof file !== 'string' || !isPath.test(file)) return undefined
  const found = readFile(file)
  if (found.kind === 'text') return found.text.replace(/\r?\n$/, '')
  refuseFile(draft, placeOf(draft, filePath), filePath, file, found.why)
  return undefined
}

/** Both are given: drops the one that does not count, and tells whether the file reference is the one that does. */
function fileWins(draft: Draft, path: string, filePath: string, fileKeys: readonly string[]): boolean {
  const value = placeOf(draft, path)
  const file = placeOf(draft, filePath)
  if (isVariable(value) && !isVariable(file)) {
    setValue(draft, fileKeys, undefined)
    return false
  }
  if (isVariable(file) && !isVariable(value)) return true
  addFault(draft, file, {
    kind: 'conflict',
    field: filePath,
    received: '',
    expected: `either this or ${path}`,
  })
  return false
}

const isVariable = (place: Place): boolean => place.order >= VARIABLE_ORDER

function checkFile(draft: Draft, path: string, file: unknown, readFile: ReadFile): void {
  if (typeof file !== 'string' || !isPath.test(file)) return
  const found = readFile(file)
  if (found.kind === 'unreadable') refuseFile(draft, placeOf(draft, path), path, file, found.why)
}

function refuseFile(draft: Draft, place: Place, field: string, file: string, why: string): void {
  addFault(draft, place, { kind: 'file', field, received: file, expected: `a readable file: ${why}` })
}
