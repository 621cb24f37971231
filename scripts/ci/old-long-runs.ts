// Prints the parts of the long run that ran more than two weeks ago, or never. It does not fail CI: a part takes an hour.

import { join } from 'node:path'
import { oldParts, readRows } from '../long-runs/rows.ts'

const old = oldParts(readRows(join(import.meta.dirname, '../..')), Date.now())
console.log(`parts of the long run that are older than two weeks (npm run long -- start PART): ${old.length}`)
for (const each of old) console.log(`  ${each}`)
