// All migrations of stored records. There are none yet: no record type was changed in a way that old records must follow
// (docs/checklists/change-a-stored-record.md).

import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = []
