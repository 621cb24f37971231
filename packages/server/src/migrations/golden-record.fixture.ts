// Golden records: for each record type, two records of the stored form and the words that its fields may have. They are
// derived from the shape and kept as files, so that a change of a stored form is noticed.

import { join } from 'node:path'
import { decodeOpen, type Json, type JsonObject, type ShapeNode, unknownLength } from '@holdfast/contract'
import type { Collection } from '../store/records.ts'
import { newestOf } from './migration.ts'
import { MIGRATIONS } from './migrations.ts'

export interface GoldenRecord {
  /** A record with every optional member and one element in each list. */
  readonly full: Json
  /** A record without optional members, with empty lists, and null wherever it is allowed. */
  readonly minimal: Json
  /** The words of each field that has one of several, by the field's path. */
  readonly words: { readonly [path: string]: readonly string[] }
}

const SUFFIX = '.golden.json'
export const GOLDEN_FOLDER = join(import.meta.dirname, 'golden')

/** The file of the form in which the collection is written now. */
export const goldenFile = (collection: Collection<unknown>): string =>
  join(`form-${newestOf(MIGRATIONS, collection)}`, `${collection.folder}${SUFFIX}`)

export function goldenRecordOf({ folder, shape }: Collection<unknown>): GoldenRecord {
  const v = newestOf(MIGRATIONS, { folder })
  const words: { [path: string]: readonly string[] } = {}
  collectWords(shape, '', words)
  return { full: withForm(fullOf(shape), v), minimal: withForm(minimalOf(shape), v), words }
}

/** Why records of the golden form cannot be read as the current one; empty if they can. */
export function findIncompatibilities(
  { folder, shape }: Collection<unknown>,
  golden: GoldenRecord,
): string[] {
  const current: { [path: string]: readonly string[] } = {}
  collectWords(shape, '', current)
  const lost = Object.entries(golden.words).flatMap(([path, words]) =>
    words
      .filter((word) => current[path] !== undefined && !current[path].includes(word))
      .map((word) => `${folder}: the word ${word} of ${path} is gone`),
  )
  const faults = [golden.full, golden.minimal].flatMap((record) => faultsOf(folder, shape, record))
  return [...new Set([...faults, ...lost])]
}

function faultsOf(folder: string, shape: ShapeNode, record: Json): string[] {
  try {
    const decoded = decodeOpen(shape, structuredClone(record))
    return unknownLength(Object(decoded)) > 0 ? [`${folder}: a member was removed or renamed`] : []
  } catch (error) {
    return [`${folder}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

const withForm = (record: Json, v: number): Json =>
  typeof record === 'object' && record !== null && !Array.isArray(record) ? { ...record, v } : record

function fullOf(shape: ShapeNode): Json {
  switch (shape.kind) {
    case 'string':
      return shape.values?.[0] ?? 'text'
    case 'duration':
      return '10s'
    case 'integer':
      return Math.max(shape.minimum ?? 0, 7)
    case 'boolean':
      return true
    case 'json':
      return { any: 'value' }
    case 'nullable':
    case 'optional':
      return fullOf(shape.inner)
    case 'list':
      return [fullOf(shape.element)]
    case 'map':
      return { name: fullOf(shape.value) }
    case 'object':
      return membersOf(shape.fields, fullOf)
  }
}

function minimalOf(shape: ShapeNode): Json {
  switch (shape.kind) {
    case 'nullable':
      return null
    case 'list':
      return []
    case 'map':
      return {}
    case 'object':
      return membersOf(
        Object.fromEntries(Object.entries(shape.fields).filter(([, { kind }]) => kind !== 'optional')),
        minimalOf,
      )
    default:
      return fullOf(shape)
  }
}

const membersOf = (
  fields: { readonly [name: string]: ShapeNode },
  memberOf: (shape: ShapeNode) => Json,
): JsonObject => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, memberOf(field)]))

function collectWords(shape: ShapeNode, path: string, into: { [path: string]: readonly string[] }): void {
  if (shape.kind === 'string' && shape.values !== undefined) into[path] = [...shape.values]
  if (shape.kind === 'nullable' || shape.kind === 'optional') collectWords(shape.inner, path, into)
  if (shape.kind === 'list') collectWords(shape.element, `${path}[]`, into)
  if (shape.kind === 'map') collectWords(shape.value, `${path}{}`, into)
  if (shape.kind === 'object')
    for (const [name, field] of Object.entries(shape.fields))
      collectWords(field, path === '' ? name : `${path}.${name}`, into)
}
