// The configuration while it is loaded: the values so far, where each came from, and the faults.

import { defined } from '@holdfast/contract'
import type { ConfigFault, ConfigFaultKind } from './config-fault.ts'
import { isWithin, UNKNOWN_NAME } from './settings-table.ts'

export type Tree = { [key: string]: unknown }

export interface Place {
  /** `file:line:column`, the name of a variable, or `default`. */
  readonly label: string
  /** Sorts faults: the file from top to bottom, then variables, then settings that are set nowhere. */
  readonly order: number
}

export interface Draft {
  readonly root: Tree
  /** The place of faults that have no other: the file as a whole. */
  readonly nowhere: Place
  /** Where each value is. A section is where its name is. */
  readonly places: Map<string, Place>
  /** Where each name of the file is. */
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

/** Trees have no prototype, so that `__proto__` is a key like any other. */
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

/** Reports only the first fault of a value: a later one at the same path, or inside it, is dropped. */
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

/** Faults of the file as a whole, and of names that are not shown, concern no other setting. */
export function isFaulty(draft: Draft, path: string): boolean {
  return draft.faults.some(
    ({ kind, field }) =>
      kind !== 'syntax' && field !== '' && !field.includes(UNKNOWN_NAME) && isWithin(path, field),
  )
}

/** The place of the value, or of the innermost section around it that has one. */
export function placeOf(draft: Draft, path: string): Place {
  let best: readonly [path: string, place: Place] | undefined
  for (const entry of draft.places) {
    if (isWithin(path, entry[0]) && entry[0].length >= (best?.[0].length ?? 0)) best = entry
  }
  return best?.[1] ?? draft.nowhere
}

export function getValue(draft: Draft, keys: readonly string[]): unknown {
  let value: unknown = draft.root
  for (const key of keys) value = isTree(value) ? value[key] : undefined
  return value
}

/** Creates the sections on the way. Returns false where the file has a value of another type in place of a section. */
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
