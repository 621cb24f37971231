// Documents in an order in which each comes after those it depends on; else as they were given. A circle stays as it is:
// the platform refuses it, and says why.

import { isJsonObject, type Json } from '@holdfast/contract'

interface Documented {
  readonly value: Json
}

export function orderByDependencies<T extends Documented>(documents: readonly T[]): T[] {
  const byName = new Map(documents.map((document) => [nameIn(document.value), document]))
  const ordered = new Set<T>()
  const under = new Set<T>()
  const visit = (document: T): void => {
    if (ordered.has(document) || under.has(document)) return
    under.add(document)
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
