// The stored form of every record type equals its golden record, and golden records of all forms can still be read. If this
// fails, follow docs/checklists/change-a-stored-record.md.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { boolean, integer, list, object, oneOf, optional, type ShapeNode, string } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { tenantCollection, v } from '../store/records/collection.ts'
import { COLLECTIONS } from '../store/records.ts'
import {
  findIncompatibilities,
  GOLDEN_FOLDER,
  type GoldenRecord,
  goldenFile,
  goldenRecordOf,
} from './golden-record.fixture.ts'
import { migrateRecord } from './migration.ts'
import { MIGRATIONS } from './migrations.ts'

const files = globSync('form-*/*.golden.json', { cwd: GOLDEN_FOLDER }).toSorted()
const read = (file: string): GoldenRecord => JSON.parse(readFileSync(join(GOLDEN_FOLDER, file), 'utf8'))
const collectionOf = (file: string) =>
  COLLECTIONS.find(({ folder }) => folder === basename(file, '.golden.json')) ?? expect.unreachable(file)

test('every record type has a golden record of its form', () => {
  expect(COLLECTIONS.map(goldenFile).filter((file) => !files.includes(file))).toEqual([])
})

test.each(COLLECTIONS.map(goldenFile))('the stored form is that of the golden record %s', (file) => {
  expect(goldenRecordOf(collectionOf(file)), 'run node scripts/golden-records.ts').toEqual(read(file))
})

test.each(files)('this version reads the golden record %s', (file) => {
  expect(findIncompatibilities(collectionOf(file), read(file))).toEqual([])
})

test.each(files)('the golden record %s is migrated to the current form', (file) => {
  const collection = collectionOf(file)
  const { full, minimal, words } = read(file)
  const migrate = (record: unknown) =>
    migrateRecord(MIGRATIONS, collection, { record, writes: Infinity }) ?? record
  const migrated = { full: migrate(full), minimal: migrate(minimal), words }
  expect(findIncompatibilities(collection, JSON.parse(JSON.stringify(migrated)))).toEqual([])
  expect(migrate(migrated.full)).toEqual(migrated.full)
})

const fields = {
  v,
  name: string(),
  color: oneOf(['red', 'green']),
  size: optional(integer()),
  parts: list(object({ id: string() })),
}
const before = goldenRecordOf(tenantCollection('thing', object(fields), true))
const { name, color, size, parts, ...none } = fields

test.each<[string, { readonly [field: string]: ShapeNode }, RegExp | undefined]>([
  ['nothing', fields, undefined],
  ['one more optional member', { ...fields, extra: optional(string()) }, undefined],
  ['one more word', { ...fields, color: oneOf(['red', 'green', 'blue']) }, undefined],
  ['a member that became optional', { ...fields, name: optional(string()) }, undefined],
  ['one more required member', { ...fields, extra: string() }, /extra/],
  ['an optional member that became required', { ...fields, size: integer() }, /size/],
  ['a removed member', { ...none, name, color, size }, /removed or renamed/],
  ['a renamed member', { ...none, color, size, parts, title: string() }, /title/],
  ['a removed member of an inner object', { ...fields, parts: list(object({})) }, /removed or renamed/],
  ['another type', { ...fields, size: optional(boolean()) }, /size/],
  ['a word that is gone', { ...fields, color: oneOf(['red']) }, /the word green of color is gone/],
])('a change of the shape can be read or not: %s', (_, changed, expected) => {
  const found = findIncompatibilities(tenantCollection('thing', object(changed), true), before).join()
  if (expected === undefined) expect(found).toBe('')
  else expect(found).toMatch(expected)
})
