// A sent list replaces the stored list. A warning names the stored references that the new list no longer contains.

import {
  type DeploymentRecord,
  isJsonObject,
  type Json,
  type JsonObject,
  type Warning,
} from '@holdfast/contract'

/** Fields whose lists are compared, each with a function that returns the names of its entries. */
const NAMES_OF: readonly [string, (value: Json | undefined) => string[]][] = [
  ['secrets', (value) => namesIn(value, 'name')],
  ['volumes', (value) => namesIn(value, 'volume')],
  ['dependsOn', (value) => (isJsonObject(value) ? Object.keys(value) : [])],
]

export function explainShortenedLists(sent: JsonObject, current: DeploymentRecord | undefined): Warning[] {
  if (current === undefined) return []
  const stored: JsonObject = current
  return NAMES_OF.flatMap(([field, namesOf]): Warning[] => {
    if (sent[field] === undefined) return []
    const kept = new Set(namesOf(sent[field]))
    const removed = namesOf(stored[field]).filter((name) => !kept.has(name))
    if (removed.length === 0) return []
    return [
      { code: 'list_shortened', field, why: `This update removes ${removed.join(', ')} from ${field}.` },
    ]
  })
}

function namesIn(list: Json | undefined, key: string): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => {
    const name = isJsonObject(entry) ? entry[key] : undefined
    return typeof name === 'string' ? [name] : []
  })
}
