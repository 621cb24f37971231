// The configuration while it is loaded: the values so far, the source of each value, and the faults.

import { defined } from '@holdfast/contract'
import type { ConfigFault, ConfigFaultKind } from './config-fault.ts'
import { isWithin, UNKNOWN_NAME } from './settings-table.ts'

export type Tree = { [key: string]: unknown }

export interface Place {
  /** Text of a place: `file:line:column`, the name of an environment variable, or `default`. */
  readonly label: string
  /** Sort key of faults: the file from top to bottom, then environment variables, then settings without a value. */
  readonly order: number
}

export interface Draft {
  readonly root: Tree
  /** Place that is reported for a fault without a more exact place: the configuration file as a whole. */
  readonly nowhere: Place
  /** Place of each value by the path of the setting. The place of a section is the place of its name. */
  readonly places: Map<string, Place>
  /** Place of each setting's name in the file, by the path of the setting. */
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
  return { root: createTree(), nowhere, places: new Map(), names: new Map(), faults: [] }
}

/** Creates a tree of settings. A tree has no prototype, so that `__proto__` is a key like any other. */
export function createTree(): Tree {
  return Object.create(null)
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export interface FaultDetails {
  readonly place?: Place
  readonly received?: string
  readonly suggestion?: string | undefined
}

/** Adds a fault. Only the first fault of a value is kept: later faults at the same path, or inside it, are dropped. */
export function addFault(
  draft: Draft,
  kind: ConfigFaultKind,
  field: string,
  expected: string,
  { place = placeOf(draft, field), received = '', suggestion }: FaultDetails = {},
): void {
  if (isFaulty(draft, field)) return
  const { label: where, order } = place
  draft.faults.push({ kind, where, field, received, expected, order, ...defined({ suggestion }) })
}

/** Reports whether a setting has a fault. Faults of the whole file and faults of unknown names are ignored. */
export function isFaulty(draft: Draft, path: string): boolean {
  return draft.faults.some(
    ({ kind, field }) =>
      kind !== 'syntax' && field !== '' && !field.includes(UNKNOWN_NAME) && isWithin(path, field),
  )
}

/** Returns the place of the value, or else of the innermost section around the value that has a place. */
export function placeOf(draft: Draft, path: string): Place {
  let best: readonly [path: string, place: Place] | undefined
  for (const entry of draft.places) {
    if (isWithin(path, entry[0]) && entry[0].length >= (best?.[0].length ?? 0)) best = entry
  }
  return best?.[1] ?? draft.nowhere
}

export const getValue = (draft: Draft, keys: readonly string[]): unknown => valueAt(draft.root, keys)

/** Returns the value inside nested sections; undefined if a section is missing. */
export const valueAt = (root: unknown, keys: readonly string[]): unknown =>
  keys.reduce((value, key) => (isTree(value) ? value[key] : undefined), root)

/** Sets a value and creates missing sections. Returns false if the path leads through a value that is not a section. */
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
