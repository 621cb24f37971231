// Fails if a test that docs/invariants.md cites did not pass in this CI run. Usage: promises.ts STEPS

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { readSteps } from './budgets.ts'
import { notPassed, readCitations } from './cited-tests.ts'
import { readReport } from './reports-of-steps.ts'

const ROOT = join(import.meta.dirname, '../..')

const [stepsPath = ''] = argv.slice(2)
const citations = readCitations(readFileSync(join(ROOT, 'docs/invariants.md'), 'utf8'))
const reports = readSteps(readFileSync(stepsPath, 'utf8')).map(({ report }) => readReport(report))
const missing = notPassed(citations, reports, (file) => relative(ROOT, file))
for (const { file, title } of missing) console.log(`  did not pass in this run: ${file}::${title}`)
console.log(`${citations.length - missing.length} of ${citations.length} cited tests passed in this run.`)
process.exitCode = missing.length === 0 ? 0 : 1
