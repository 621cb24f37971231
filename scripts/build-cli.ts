// Bundles the CLI into one file in a folder for `npm pack`; with --docs, writes the pages of docs/cli instead.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { renderPages } from '@holdfast/cli/reference/docs'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const CLI = join(ROOT, 'packages/cli')
const DOCS = join(ROOT, 'docs/cli')
/** First lines of the bundle. They define `require`, which some dependencies call for Node's built-in modules. */
const BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

if (argv.includes('--docs')) writeDocs()
else await bundle(argv[2] ?? join(CLI, 'dist'))

function writeDocs(): void {
  rmSync(DOCS, { recursive: true, force: true })
  mkdirSync(DOCS, { recursive: true })
  for (const [name, page] of renderPages()) writeFileSync(join(DOCS, name), page)
}

async function bundle(folder: string): Promise<void> {
  const outfile = join(folder, 'holdfast.mjs')
  await build({
    entryPoints: [join(CLI, 'src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    legalComments: 'inline',
    banner: { js: BANNER },
    logLevel: 'warning',
    // Optional dependencies of the package ws that are not installed.
    external: ['bufferutil', 'utf-8-validate'],
  })
  const { name, version, license } = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8'))
  const description = { name, version, license, type: 'module', engines: { node: '>=24' } }
  const packed = { ...description, bin: { holdfast: 'holdfast.mjs' }, files: ['holdfast.mjs'] }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`)
}
