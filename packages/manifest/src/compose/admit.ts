// Makes sure that every written document passes the rules of the platform that need no platform. A part that the
// translation should not have written is removed and reported with the reason of the platform.

import { isJsonObject, type Json, type JsonObject, type PathStep, stepsOf } from '@holdfast/contract'
import { stringify } from 'yaml'
import { parseSource } from '../parse-source.ts'
import { checkManifest } from '../rules.ts'

/** Removing a part can reveal a fault of another one. More rounds than this mean that nothing helps. */
const MOST_ROUNDS = 64
/** Fields without which there is no document. */
const NEEDED: ReadonlySet<PathStep> = new Set(['kind', 'name', 'image', 'class', 'size', 'sizeBytes'])
/** Maps and lists of which one element is removed, and not the whole. */
const COLLECTIONS: ReadonlySet<PathStep> = new Set([
  ...[
    'environment',
    'composedEnvironment',
    'labels',
    'dependsOn',
    'volumes',
    'secrets',
    'routes',
    'networks',
  ],
  ...['limits', 'resources', 'placement', 'update'],
])

export interface Admitted {
  /** The document without the removed parts; undefined if nothing of it can be kept. */
  readonly document: JsonObject | undefined
  readonly removed: readonly { readonly field: string; readonly why: string }[]
}

export function admitDocument(written: JsonObject): Admitted {
  const removed: { field: string; why: string }[] = []
  let document = written
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const [rejection] = rejectionsOf(document)
    if (rejection === undefined) return { document, removed }
    const { field, why } = rejection
    removed.push({ field, why })
    const without = withoutField(document, stepsOf(field))
    if (without === undefined) break
    document = without
  }
  return { document: undefined, removed }
}

function rejectionsOf(document: JsonObject) {
  const bytes = new TextEncoder().encode(stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
  const { manifests, faults } = parseSource({ name: 'imported', bytes })
  const [manifest] = manifests
  if (manifest === undefined || faults.length > 0)
    return [{ field: '', why: 'The document cannot be written as YAML.' }]
  return checkManifest(manifest)
}

function withoutField(document: JsonObject, [top, inner]: readonly PathStep[]): JsonObject | undefined {
  if (top === undefined || NEEDED.has(top) || !Object.hasOwn(document, top)) return undefined
  const { [String(top)]: value, ...others } = document
  if (value === undefined || !COLLECTIONS.has(top) || inner === undefined) return others
  const rest = withoutElement(value, inner)
  return rest === undefined ? others : { ...document, [String(top)]: rest }
}

/** The collection without one element; undefined if it would be empty, or if it has no such element. */
function withoutElement(value: Json, step: PathStep): Json | undefined {
  if (Array.isArray(value)) {
    const rest = value.filter((_, at) => at !== step)
    return rest.length === value.length || rest.length === 0 ? undefined : rest
  }
  if (!isJsonObject(value)) return undefined
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== step))
  const count = Object.keys(rest).length
  return count === Object.keys(value).length || count === 0 ? undefined : rest
}
