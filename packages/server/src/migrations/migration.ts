// A migration turns a record of one form into the next one. Migrations are pure; the loop that writes their results is
// packages/server/src/loops/migrate-records.ts (docs/design/upgrades.md#migrations).

import { formOf } from '../store/encode.ts'
import type { Collection } from '../store/records.ts'

export interface Migration<T = unknown> {
  /** A collection whose values are cached. */
  readonly collection: Collection<T>
  /** The form of the result. Records of the collection with any older form are migrated to it. */
  readonly to: number
  /** Returns a copy of the record in the form `to`, with the members that only a newer version knows (`{ ...record }`). */
  migrate(record: T): T
}

/** The migrations that a record needs until it has the form in which its collection is written, in their order. */
const stepsOf = (
  migrations: readonly Migration[],
  { folder }: Pick<Collection<unknown>, 'folder'>,
  { form, writes }: { readonly form: number; readonly writes: number },
): readonly Migration[] =>
  migrations
    .filter(({ collection, to }) => collection.folder === folder && to > form && to <= writes)
    .toSorted((left, right) => left.to - right.to)

/** The record in the newest form up to `writes`; undefined if it has that form. */
export function migrateRecord(
  migrations: readonly Migration[],
  collection: Pick<Collection<unknown>, 'folder'>,
  { record, writes }: { readonly record: unknown; readonly writes: number },
): unknown {
  const steps = stepsOf(migrations, collection, { form: formOf(record), writes })
  return steps.length === 0 ? undefined : steps.reduce(applyStep, record)
}

function applyStep(record: unknown, { collection, to, migrate }: Migration): unknown {
  const migrated = migrate(record)
  if (formOf(migrated) === to) return migrated
  throw new TypeError(`the migration of ${collection.folder} to form ${to} returned form ${formOf(migrated)}`)
}

/** The form that the migrations of a collection lead to; 1 without any. */
export const newestOf = (
  migrations: readonly Migration[],
  { folder }: Pick<Collection<unknown>, 'folder'>,
): number =>
  Math.max(1, ...migrations.filter((each) => each.collection.folder === folder).map(({ to }) => to))
