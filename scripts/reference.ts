// Writes the pages of docs/reference from the code that they describe; `--check` compares them instead.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit, stderr, stdout } from 'node:process'
import { REFERENCE_PAGES } from './reference/pages.ts'

const FOLDER = join(import.meta.dirname, '../docs/reference')

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // A page that does not exist yet is treated as empty, so it differs from the generated page.
    return ''
  }
}

const outdated = REFERENCE_PAGES.filter(({ file, render }) => read(join(FOLDER, file)) !== render())
if (argv.includes('--check')) {
  for (const { file } of outdated)
    stderr.write(`docs/reference/${file} is out of date; run: node scripts/reference.ts\n`)
  exit(outdated.length === 0 ? 0 : 1)
}
mkdirSync(FOLDER, { recursive: true })
for (const { file, render } of outdated) {
  writeFileSync(join(FOLDER, file), render())
  stdout.write(`docs/reference/${file} written\n`)
}
