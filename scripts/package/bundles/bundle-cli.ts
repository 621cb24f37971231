// Bundles the CLI into a folder that npm can pack.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { bundle } from './bundle.ts'

const CLI = join(import.meta.dirname, '../../../packages/cli')
const FILE = 'holdfast.mjs'

export async function bundleCli(folder: string): Promise<Metafile> {
  const outfile = join(folder, FILE)
  const built = await bundle({ entry: 'packages/cli/src/main.ts', outfile, minify: true })
  const { name, version, license } = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8'))
  const description = { name, version, license, type: 'module', engines: { node: '>=24' } }
  const packed = { ...description, bin: { holdfast: FILE }, files: [FILE] }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`)
  return built
}
