// Prints the failed test files of a vitest report, one per line, or nothing if so many failed that the change is the likely
// cause. Usage: files-to-repeat.ts REPORT

import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { failedFiles } from './reports.ts'
import { readReport } from './reports-of-steps.ts'

const ROOT = join(import.meta.dirname, '../..')
const MOST_FILES = 8

const [path = ''] = argv.slice(2)
const failed = failedFiles(readReport(path))
if (failed.length <= MOST_FILES) for (const { name } of failed) console.log(relative(ROOT, name))
