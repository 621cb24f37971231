// Compares two configurations: which settings differ. Secrets are redacted and thus always equal.

import { valueAt } from './draft.ts'
import type { Config } from './schema.ts'
import { settingRows } from './settings-table.ts'

/** Returns the paths of the settings with different values, in the order of the schema. */
export function changedSettings(before: Config, after: Config): string[] {
  return settingRows
    .filter(({ keys }) => JSON.stringify(valueAt(before, keys)) !== JSON.stringify(valueAt(after, keys)))
    .map(({ path }) => path)
}
