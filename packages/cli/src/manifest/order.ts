// Sorts documents after their dependencies; other documents keep their order. The platform rejects dependency cycles.

import { isJsonObject, type Json } from '@holdfast/contract'

interface Documented {
  readonly value: Json
}

export function orderByDependencies<T extends Documented>(documents: readonly T[]): T[] {
  const byName = new Map(documents.map((document) => [nameIn(document.value), document]))
  const ordered = new Set<T>()
  const visiting = new Set<T>()
  const visit = (document: T): void => {
    if (ordered.has(document) || visiting.has(document)) return
    visiting.add(document)
    for (const name of dependenciesOf(document.value)) {
      const dependency = byName.get(name)
      if (dependency !== undefined) visit(dependency)
    }
    ordered.add(document)
  }
  for (const document of documents) visit(document)
  return [...ordered]
}

const nameIn = (value: Json): string => (isJsonObject(value) ? String(value.name) : '')

function dependenciesOf(value: Json): string[] {
  const { dependsOn } = isJsonObject(value) ? value : {}
  return isJsonObject(dependsOn) ? Object.keys(dependsOn) : []
}
