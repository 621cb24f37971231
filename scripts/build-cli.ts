// Bundles the CLI into one file in a folder for `npm pack`; with --docs, writes the pages of docs/cli instead.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { renderPages } from '@holdfast/cli/reference/docs'
import { bundleCli } from './package/bundles/bundle-cli.ts'

const ROOT = join(import.meta.dirname, '..')
const DOCS = join(ROOT, 'docs/cli')

if (argv.includes('--docs')) writeDocs()
else await bundleCli(argv[2] ?? join(ROOT, 'packages/cli/dist'))

function writeDocs(): void {
  rmSync(DOCS, { recursive: true, force: true })
  mkdirSync(DOCS, { recursive: true })
  for (const [name, page] of renderPages()) writeFileSync(join(DOCS, name), page)
}
