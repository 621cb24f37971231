// The hash of the code that a program loads: its sources and dependencies as one bundle without comments, types and formatting.
// A change that no run of the program can notice leaves it as it is.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from 'node:process'
import { build, type Plugin } from 'esbuild'

/** The test runner is loaded by version, from the lock file. */
const NOT_BUNDLED = ['vitest']

/** Hashes the code that starts at each of the files, the lock file and the version of Node. */
export async function hashBundles(
  root: string,
  files: readonly string[],
  plugins: readonly Plugin[] = [],
): Promise<string> {
  const hash = createHash('sha256')
    .update(version)
    .update(readFileSync(join(root, 'package-lock.json')))
  for (const file of files) hash.update('\0').update(await bundle(root, file, plugins))
  return hash.digest('hex')
}

async function bundle(root: string, file: string, plugins: readonly Plugin[]): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(root, file)],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external: NOT_BUNDLED,
    // Names stay, because code may read the name of a function.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: root,
    plugins: [...plugins],
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error(`esbuild made no bundle of ${file}`)
  return output.contents
}
