// Compiles the packages that other projects import, with their types, and packs them as npm publishes them.

import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMPILED, publishedManifest, type SourceManifest } from './published-manifest.ts'

const ROOT = join(import.meta.dirname, '../..')
const DEADLINE_MS = 300_000
/** In the order of their dependencies: each is compiled against the declarations of those before it. */
const LIBRARIES = ['contract', 'client', 'core', 'manifest']
const PLAIN = 0o644

const run = (command: string, words: readonly string[]) =>
  promisify(execFile)(command, words, { timeout: DEADLINE_MS })

/** Writes a folder per library below `work` and its archive into `into`. */
export async function buildLibraries(work: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true })
  for (const name of LIBRARIES) {
    await compile(name, work)
    describePackage(name, join(work, name))
    await run('npm', ['pack', join(work, name), '--pack-destination', into, '--silent', '--ignore-scripts'])
  }
}

async function compile(name: string, work: string): Promise<void> {
  const project = join(work, `${name}.tsconfig.json`)
  mkdirSync(work, { recursive: true })
  writeFileSync(project, JSON.stringify(compilerSettings(name, work)))
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch((error: unknown) => {
    // tsc prints what is wrong to its standard output.
    const output = error instanceof Error && 'stdout' in error ? error.stdout : error
    throw new Error(`@holdfast/${name} could not be compiled:\n${output}`)
  })
}

function compilerSettings(name: string, work: string): object {
  const source = join(ROOT, 'packages', name, 'src')
  const earlier = LIBRARIES.slice(0, LIBRARIES.indexOf(name))
  const declared = earlier.flatMap((other) => declarationsOf(other, work))
  return {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      // Node imports only the compiled modules, whose names end in .js.
      rewriteRelativeImportExtensions: true,
      lib: ['ES2024', 'DOM', 'DOM.AsyncIterable'],
      rootDir: source,
      outDir: join(work, name, COMPILED),
      paths: Object.fromEntries(declared),
    },
    include: [join(source, '**/*.ts')],
    exclude: ['**/*.test.ts', '**/*.fixture.ts'].map((pattern) => join(source, pattern)),
  }
}

/** Each import path of a compiled library with the file of its declarations. */
const declarationsOf = (name: string, work: string): [string, string[]][] =>
  Object.entries(sourceManifest(name).exports).map(([path, file]) => {
    const declarations = file.replace(/^\.\/src\/(.+)\.ts$/, `${COMPILED}/$1.d.ts`)
    return [`@holdfast/${name}${path.slice(1)}`, [join(work, name, declarations)]]
  })

const sourceManifest = (name: string): SourceManifest =>
  JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))

/** npm keeps the modes of files, so they must not depend on the umask. */
function describePackage(name: string, folder: string): void {
  const manifest = publishedManifest(sourceManifest(name))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), PLAIN)
}
