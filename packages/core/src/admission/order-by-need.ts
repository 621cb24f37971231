// The order in which several manifests are judged or applied: each after those that it needs. A manifest needs the
// deployments in `dependsOn` and `placement.affinity`, and those that write a secret which it only refers to.

import { isJsonObject, type Json } from '@holdfast/contract'

/**
 * Returns the indexes of the documents in order of need. Documents that do not need each other keep their order. A cycle
 * is left to admission, which rejects it.
 */
export function orderByNeed(documents: readonly Json[]): number[] {
  const needs = documents.map((document) => needsOf(document, documents))
  const ordered = new Set<number>()
  const visiting = new Set<number>()
  const visit = (at: number): void => {
    if (ordered.has(at) || visiting.has(at)) return
    visiting.add(at)
    for (const needed of needs[at] ?? []) visit(needed)
    ordered.add(at)
  }
  for (const at of documents.keys()) visit(at)
  return [...ordered]
}

function needsOf(document: Json, documents: readonly Json[]): number[] {
  const names = new Set([...keysOf(fieldOf(document, 'dependsOn')), ...affinityOf(document)])
  const paths = new Set(secretsOf(document).flatMap(({ path, isWritten }) => (isWritten ? [] : [path])))
  return [...documents.keys()].filter((at) => {
    const other = documents[at] ?? null
    if (other === document) return false
    const name = fieldOf(other, 'name')
    const writes = secretsOf(other).some(({ path, isWritten }) => isWritten && paths.has(path))
    return writes || (typeof name === 'string' && names.has(name))
  })
}

const fieldOf = (value: Json | undefined, field: string): Json | undefined =>
  value !== undefined && isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined

const keysOf = (value: Json | undefined): string[] =>
  value !== undefined && isJsonObject(value) ? Object.keys(value) : []

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

function affinityOf(document: Json): string[] {
  const affinity = itemsOf(fieldOf(fieldOf(document, 'placement'), 'affinity'))
  return affinity.filter((name) => typeof name === 'string')
}

/** The secret paths of a manifest, and whether the manifest itself sends or generates their values. */
function secretsOf(document: Json): { readonly path: string; readonly isWritten: boolean }[] {
  return itemsOf(fieldOf(document, 'secrets')).flatMap((entry) => {
    const path = fieldOf(entry, 'vault_path')
    const isWritten = fieldOf(entry, 'values') !== undefined || fieldOf(entry, 'generate') !== undefined
    return typeof path === 'string' ? [{ path, isWritten }] : []
  })
}
