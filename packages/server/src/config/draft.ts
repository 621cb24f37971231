// The configuration while it is being put together: values as they came, where each came from, and the faults so far.

import type { ConfigFault } from './config-fault.ts'
import { isWithin, UNKNOWN_NAME } from './leaves.ts'

export type Tree = { [key: string]: unknown }

export interface Place {
  readonly label: string
  /** Faults are listed by it: the file from top to bottom, then variables, then what is nowhere. */
  readonly order: number
}

export interface Draft {
  readonly root: Tree
  /** The file's name, or what to call the configuration when there is none. */
  readonly nowhere: Place
  readonly values: Map<string, Place>
  /** Of names, where they differ from the place of their value. */
  readonly names: Map<string, Place>
  readonly faults: PlacedFault[]
}

export interface PlacedFault extends ConfigFault {
  readonly order: number
}

export const VARIABLE_ORDER = 2 ** 40
const NOWHERE_ORDER = 2 ** 41

export function createDraft(fileName: string | undefined): Draft {
  const nowhere = { label: fileName ?? 'configuration', order: NOWHERE_ORDER }
  return { root: createTree(), nowhere, values: new Map(), names: new Map(), faults: [] }
}

/** Without a prototype: a key named __proto__ is a key like any other. */
export function createTree(): Tree {
  return Object.create(null)
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Only the first fault of a value is told: a later one at the same place, or inside it, is dropped. */
export function addFault(draft: Draft, place: Place, fault: Omit<ConfigFault, 'where'>): void {
  if (isFaulty(draft, fault.field)) return
  draft.faults.push({ ...fault, where: place.label, order: place.order })
}

export function isFaulty(draft: Draft, path: string): boolean {
  return draft.faults.some(
    ({ kind, field }) => kind !== 'syntax' && isSpecific(field) && isWithin(path, field),
  )
}

/** A fault of the whole file, or of a name that is not shown, says nothing about another one. */
function isSpecific(field: string): boolean {
  return field !== '' && !field.includes(UNKNOWN_NAME)
}

/** Of the value, or else of the nearest section around it that has a place. */
export function placeOf(draft: Draft, path: string): Place {
  let best: readonly [path: string, place: Place] | undefined
  for (const entry of [...draft.names, ...draft.values]) {
    if (isWithin(path, entry[0]) && entry[0].length >= (best?.[0].length ?? 0)) best = entry
  }
  return best?.[1] ?? draft.nowhere
}

export function placeOfName(draft: Draft, path: string): Place {
  return draft.names.get(path) ?? placeOf(draft, path)
}

export function getValue(draft: Draft, keys: readonly string[]): unknown {
  let value: unknown = draft.root
  for (const key of keys) value = isTree(value) ? value[key] : undefined
  return value
}

/** Makes the sections on the way. A section that the file gave another type stays: it is a fault of its own. */
export function setValue(draft: Draft, keys: readonly string[], value: unknown): boolean {
  let section = draft.root
  for (const key of keys.slice(0, -1)) {
    section[key] ??= createTree()
    const inner = section[key]
    if (!isTree(inner)) return false
    section = inner
  }
  section[keys.at(-1) ?? ''] = value
  return true
}

/** What stood at this path in the file is no longer what counts. */
export function forgetPlaces(draft: Draft, path: string): void {
  for (const places of [draft.values, draft.names]) {
    for (const known of places.keys()) if (isWithin(known, path)) places.delete(known)
  }
}
