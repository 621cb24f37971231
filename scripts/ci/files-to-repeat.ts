// Prints the failed test files of a vitest report, one per line, or nothing if so many failed that the change is the likely
// cause. Usage: files-to-repeat.ts REPORT

import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { failedFiles, NO_REPORT, type Report } from './reports.ts'

const ROOT = join(import.meta.dirname, '../..')
const MOST_FILES = 8

const [path = ''] = argv.slice(2)
const report: Report = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : NO_REPORT
const failed = failedFiles(report)
if (failed.length <= MOST_FILES) for (const { name } of failed) console.log(relative(ROOT, name))
