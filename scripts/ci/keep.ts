// Takes the files that a CI run printed between markers from its log, and writes them into this tree, so that the next commit
// keeps them. Usage: node scripts/ci/keep.ts < LOG

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readMarked } from './marked.ts'

const ROOT = join(import.meta.dirname, '../..')

const files = readMarked(readFileSync(0, 'utf8'))
for (const [path, text] of files) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true })
  writeFileSync(join(ROOT, path), text)
  console.log(path)
}
if (files.size === 0) {
  console.error('The log has no file between markers: only a whole CI run prints them.')
  process.exitCode = 1
}
