// Keeps members that only a newer version knows. Decoding moves such members out of sight: they stay with their object
// under a symbol, which `{ ...object }` copies and JSON.stringify ignores. Encoding writes them back. So an older server
// or agent changes a record of a newer one and loses nothing, and no unknown member reaches a client. Known members are
// checked strictly. See docs/design/store.md#records

import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { Shape, ShapeNode } from './shape.ts'
import { decode, matchesShape } from './shape-faults.ts'

const UNKNOWN: unique symbol = Symbol('members that a newer version wrote')

interface Keeping {
  [UNKNOWN]?: JsonObject
}

/** Decodes a value and keeps unknown members of its objects. Changes `value`, so the caller must own it. */
export function decodeOpen<T>(shape: Shape<T>, value: unknown): T {
  if (matchesShape(shape, value)) return value as T
  hideUnknown(shape, value)
  return decode(shape, value)
}

/** The JSON text of a decoded value, or of a changed copy, with the unknown members of its objects. */
export function encodeOpen(value: unknown, indent?: number): string {
  return JSON.stringify(seenUnknown ? shown(value as Json) : value, undefined, indent)
}

/**
 * The JSON text of a record. In parts that may be any JSON, such as a stored response, unknown members stay out of sight:
 * decoding such a part would make them visible to clients.
 */
export function encodeShaped<T>(shape: Shape<T>, value: T): string {
  return JSON.stringify(seenUnknown ? shown(value as Json, shape) : value)
}

/** A copy of a value in which unknown members are ordinary members. Returns the value itself if none was ever decoded. */
export function showUnknown(value: Json): Json {
  return seenUnknown ? shown(value) : value
}

/**
 * Copies unknown members from a value to its successor, for code that builds the successor from known members. Objects
 * correspond by their path. List elements correspond by their name, id, or host and path, or else by equal content.
 */
export function carryUnknown<T extends object>(from: object | undefined, to: T): T {
  return seenUnknown && from !== undefined ? (carried(from as Json, to as Json) as T) : to
}

/** Copies the unknown members of an object to its successor. Objects inside the successor stay the same objects. */
export function keepUnknown<T extends object>(from: object | undefined, to: T): T {
  const unknown = seenUnknown && from !== undefined ? unknownOf(from) : undefined
  return unknown === undefined ? to : { ...to, [UNKNOWN]: { ...unknown, ...unknownOf(to) } }
}

/** Size of the unknown members of a value in characters of JSON, for a bound on what an agent may have stored. */
export function unknownLength(value: object): number {
  if (!seenUnknown) return 0
  let length = 0
  const add = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return
    const unknown = unknownOf(each)
    if (unknown !== undefined) length += JSON.stringify(unknown).length
    for (const member of Object.values(each)) add(member)
  }
  add(value)
  return length
}

// False until the process decodes its first unknown member. As long as all processes have one version, it stays false,
// and encoding needs no walk through the value.
let seenUnknown = false

function hideUnknown(shape: ShapeNode, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (shape.kind === 'optional' || shape.kind === 'nullable') hideUnknown(shape.inner, value)
  else if (shape.kind === 'list' && Array.isArray(value))
    for (const element of value) hideUnknown(shape.element, element)
  else if (shape.kind === 'map') for (const member of Object.values(value)) hideUnknown(shape.value, member)
  else if (shape.kind === 'object' && !Array.isArray(value)) hideMembers(shape.fields, value)
}

function hideMembers(fields: { readonly [name: string]: ShapeNode }, value: object & Keeping): void {
  const unknown: [string, Json][] = []
  for (const [key, member] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field !== undefined) hideUnknown(field, member)
    else {
      unknown.push([key, member])
      Reflect.deleteProperty(value, key)
    }
  }
  if (unknown.length === 0) return
  seenUnknown = true
  value[UNKNOWN] = Object.fromEntries(unknown)
}

const unknownOf = (value: object & Keeping): JsonObject | undefined => value[UNKNOWN]

/** Copies only objects with unknown members and those around them: most values have none. */
function shown(value: Json, shape?: ShapeNode): Json {
  if (typeof value !== 'object' || value === null || shape?.kind === 'json') return value
  if (shape?.kind === 'optional' || shape?.kind === 'nullable') return shown(value, shape.inner)
  if (Array.isArray(value)) return shownElements(value, elementOf(shape))
  let copy: JsonObject | undefined
  for (const key of Object.keys(value)) {
    const member = value[key] as Json
    const all = shown(member, memberOf(shape, key))
    if (all === member) continue
    copy ??= { ...value }
    copy[key] = all
  }
  const unknown = unknownOf(value)
  if (unknown === undefined) return copy ?? value
  const added = Object.entries(unknown).filter(([key]) => !Object.hasOwn(value, key))
  return Object.fromEntries([...Object.entries(copy ?? value), ...added])
}

function shownElements(list: Json[], shape: ShapeNode | undefined): Json[] {
  const all = list.map((element) => shown(element, shape))
  return all.some((element, at) => element !== list[at]) ? all : list
}

const elementOf = (shape: ShapeNode | undefined): ShapeNode | undefined =>
  shape?.kind === 'list' ? shape.element : undefined

function memberOf(shape: ShapeNode | undefined, key: string): ShapeNode | undefined {
  if (shape?.kind === 'map') return shape.value
  return shape?.kind === 'object' ? shape.fields[key] : undefined
}

function carried(from: Json | undefined, to: Json): Json {
  if (Array.isArray(to)) return Array.isArray(from) ? carriedElements(from, to) : to
  if (!isJsonObject(to) || !isJsonObject(from)) return to
  const copy: JsonObject & Keeping = { ...to }
  for (const [key, member] of Object.entries(to)) copy[key] = carried(from[key], member)
  const unknown = unknownOf(to) ?? unknownOf(from)
  if (unknown !== undefined) copy[UNKNOWN] = unknown
  return copy
}

function carriedElements(from: readonly Json[], to: readonly Json[]): Json[] {
  const before = new Map(from.map((element) => [identityOf(element), element]))
  return to.map((element) => carried(before.get(identityOf(element)), element))
}

function identityOf(element: Json): string {
  if (!isJsonObject(element)) return JSON.stringify(element)
  const { name, id, host, path } = element
  return JSON.stringify(name ?? id ?? (host === undefined ? element : [host, path]))
}
