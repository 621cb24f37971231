// The edits that turn the current tree into a newer version. In the first one, every object that is stored, sent or saved
// has one more member. The second one is the next release: it has a new form of records, which only it reads, and a migration
// of older records.

import { VERSION } from '@holdfast/contract'
import type { Edit } from './copy-packages.ts'

export const ADDED_MEMBER = 'addedByTest'

const [MAJOR, MINOR] = VERSION.split('.').map(Number)
/** The minor version after that of this tree. */
export const NEXT_VERSION = `${MAJOR}.${(MINOR ?? 0) + 1}.0`

/** The form of records that only the build with a new form reads, and the version that it comes with. */
export const NEW_FORM = { v: 3, since: NEXT_VERSION }

const SHAPES = 'packages/contract/src/shapes'

// All sent and saved objects are encoded in one place, which does not know their shapes. The edited encoder finds the shape
// of an object among all shapes: in a map of labels or variables one more entry would have a meaning.
const REGISTER: Edit = {
  file: `${SHAPES}/shape.ts`,
  find: `} => ({
  kind: 'object',
  fields,
})`,
  replace: `} => {
  const shape = { kind: 'object' as const, fields }
  objectShapes.push(shape)
  return shape
}
export const objectShapes: ObjectNode[] = []`,
}

const IMPORT: Edit = {
  file: `${SHAPES}/unknown-members.ts`,
  find: `import type { Shape, ShapeNode } from './shape.ts'`,
  replace: `import { objectShapes, type Shape, type ShapeNode } from './shape.ts'`,
}

const ENCODE: Edit = {
  file: `${SHAPES}/unknown-members.ts`,
  find: 'return JSON.stringify(seenUnknown ? shown(value as Json) : value, undefined, indent)',
  replace: 'return JSON.stringify(shown(added(value) as Json), undefined, indent)',
}

const ENCODE_RECORD: Edit = {
  file: `${SHAPES}/unknown-members.ts`,
  find: 'return JSON.stringify(seenUnknown ? shown(value as Json, shape) : value)',
  replace: 'return JSON.stringify(shown(addedBy(shape, value) as Json, shape))',
}

/** If no shape matches, the value is an object with members that are added to one by one. */
const ADD: Edit = {
  file: `${SHAPES}/unknown-members.ts`,
  find: 'interface Keeping {',
  replace: `function added(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(added)
  if (typeof value !== 'object' || value === null) return value
  const found = objectShapes.filter((shape) => matchesShape(shape, value)).map((shape) => addedBy(shape, value))
  const text = (each: unknown): number => JSON.stringify(shown(each as Json)).length
  if (found.length > 0) return found.reduce((most, each) => (text(each) > text(most) ? each : most))
  return mark(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, added(member)])), value)
}

function addedBy(shape: ShapeNode, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (shape.kind === 'optional' || shape.kind === 'nullable') return addedBy(shape.inner, value)
  if (shape.kind === 'list' && Array.isArray(value)) return value.map((each) => addedBy(shape.element, each))
  const members = (of: (key: string) => ShapeNode | undefined) =>
    Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const inner = of(key)
        return [key, inner === undefined ? member : addedBy(inner, member)]
      }),
    )
  if (shape.kind === 'map') return members(() => shape.value)
  return shape.kind === 'object' ? mark(members((key) => shape.fields[key]), value) : value
}

const mark = (copy: object & Keeping, of: Keeping): unknown => {
  copy[UNKNOWN] = { ...of[UNKNOWN], ${ADDED_MEMBER}: 'kept' }
  return copy
}

interface Keeping {`,
}

export const ADDED_MEMBERS: readonly Edit[] = [REGISTER, IMPORT, ENCODE, ENCODE_RECORD, ADD]

const TRANSACTION = 'packages/server/src/store/transaction.ts'

/** Deployments are written in the new form as soon as the format record allows it. */
export const NEW_RECORD_FORM: readonly Edit[] = [
  {
    file: 'packages/server/src/store/records/collection.ts',
    find: "{ v: 2, since: '0.2.0', onDemand: true },",
    replace: `{ v: 2, since: '0.2.0', onDemand: true }, ${JSON.stringify(NEW_FORM)},`,
  },
  {
    file: TRANSACTION,
    find: 'value = encodeRecord(address.collection, record)',
    replace: 'value = encodeRecord(address.collection, inNewForm(index, address, record))',
  },
  {
    file: TRANSACTION,
    find: 'function requireWritten(',
    replace: `function inNewForm<T>(index: RecordIndex, { collection }: Address<T>, record: T): T {
  const writes = index.get(formats, undefined, 'records')?.record.writes ?? 1
  return collection.folder === 'dep' && writes >= ${NEW_FORM.v} ? { ...record, v: ${NEW_FORM.v} } : record
}

function requireWritten(`,
  },
]

const MIGRATIONS = 'packages/server/src/migrations/migrations.ts'

/** The next version: deployments have a new form, and those of an older form are migrated to it. */
export const NEXT_RELEASE: readonly Edit[] = [
  {
    file: 'packages/contract/src/version.ts',
    find: `VERSION = '${VERSION}'`,
    replace: `VERSION = '${NEXT_VERSION}'`,
  },
  ...NEW_RECORD_FORM,
  {
    file: MIGRATIONS,
    find: `import type { Migration } from './migration.ts'`,
    replace: `import { deployments } from '../store/records.ts'
import type { Migration } from './migration.ts'`,
  },
  {
    file: MIGRATIONS,
    find: 'export const MIGRATIONS: readonly Migration[] = [',
    replace: `export const MIGRATIONS: readonly Migration[] = [
  { collection: deployments, to: ${NEW_FORM.v}, migrate: (record) => ({ ...Object(record), v: ${NEW_FORM.v} }) },`,
  },
]
