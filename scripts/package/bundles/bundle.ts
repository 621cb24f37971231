// Bundles one program of the workspace with its dependencies into one module that runs without node_modules.

import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { unusedModules } from './unused-modules.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** First lines of a bundle. They define what CommonJS dependencies expect; they call `require` for Node's built-in modules. */
const BANNER = [
  `import { createRequire as createHoldfastRequire } from 'node:module'`,
  'const require = createHoldfastRequire(import.meta.url)',
  'const __filename = import.meta.filename, __dirname = import.meta.dirname',
].join('; ')

export interface Bundle {
  /** The folder of the sources; by default this repository. */
  readonly root?: string
  /** The program, as a path from the root of the sources. */
  readonly entry: string
  readonly outfile: string
  /** Packages that the program never calls although a dependency imports them; they become empty modules. */
  readonly unused?: readonly string[]
  /** Absent: names and lines stay readable, for the stack traces in the logs of operators. */
  readonly minify?: boolean
}

/** Writes the bundle. The result lists which files it consists of. */
export async function bundle({
  root = ROOT,
  entry,
  outfile,
  unused = [],
  minify = false,
}: Bundle): Promise<Metafile> {
  const { metafile } = await build({
    // Paths in the bundle are relative to this folder, so that two clones build the same bytes.
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify,
    metafile: true,
    legalComments: 'inline',
    banner: { js: `${BANNER};` },
    logLevel: 'warning',
    // Optional dependencies of the package ws that are not installed.
    external: ['bufferutil', 'utf-8-validate'],
    plugins: [unusedModules(unused)],
  })
  return metafile
}
