// Writes the golden records of stored records after a change that older records survive. A change that they do not survive
// is refused: it needs a new form and a migration (docs/checklists/change-a-stored-record.md).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  findIncompatibilities,
  GOLDEN_FOLDER,
  goldenFile,
  goldenRecordOf,
} from '@holdfast/server/migrations/golden-record.fixture'
import { COLLECTIONS } from '@holdfast/server/store/records'

for (const collection of COLLECTIONS) {
  const file = join(GOLDEN_FOLDER, goldenFile(collection))
  const text = `${JSON.stringify(goldenRecordOf(collection), undefined, 2)}\n`
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (before === text) continue
  const faults = before === undefined ? [] : findIncompatibilities(collection, JSON.parse(before))
  for (const fault of faults) console.error(`${fault}. Add a form and a migration.`)
  if (faults.length > 0) process.exitCode = 1
  else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(`wrote ${file}`)
  }
}
