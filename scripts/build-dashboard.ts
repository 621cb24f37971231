// Builds the dashboard into a folder (default: packages/dashboard/dist), compresses its files, and prints the size of the
// first load. Ends with 1 if the first load exceeds its limit.

import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { buildDashboard } from './dashboard/build.ts'
import { FIRST_LOAD_LIMIT, measureFirstLoad } from './dashboard/first-load.ts'

const folder = argv[2] ?? join(import.meta.dirname, '../packages/dashboard/dist')
await buildDashboard(folder)
const files = measureFirstLoad(folder)
for (const { file, bytes } of files) console.log(`${String(bytes).padStart(8)}  ${file}`)
const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
console.log(`${String(total).padStart(8)}  first load, gzip; at most ${FIRST_LOAD_LIMIT}`)
exit(total > FIRST_LOAD_LIMIT ? 1 : 0)
