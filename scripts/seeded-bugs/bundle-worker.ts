// Bundles the worker of the simulation, with or without a seeded bug. Every thread of every bug would otherwise read and
// strip the types of hundreds of source files, which takes longer than the seeds.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { type Edit, editText } from '@holdfast/testkit/builds/copy-packages'
import { build, type Plugin } from 'esbuild'

const WORKER = 'packages/simulation/src/seeds/seed-worker.ts'
/** Defines `require`, which some dependencies call for Node's built-in modules. */
const BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

export interface BundledWorker {
  readonly file: string
  remove(): void
}

/** Throws if the text of an edit is not in the tree once, or if the worker does not use an edited file. */
export async function bundleWorker(root: string, edits: readonly Edit[]): Promise<BundledWorker> {
  const { path, remove } = makeTempFolder('seeded-bug')
  const outfile = join(path, 'seed-worker.mjs')
  const edited = new Map<string, string>()
  for (const edit of edits) {
    const file = join(root, edit.file)
    edited.set(file, editText(edited.get(file) ?? readFileSync(file, 'utf8'), edit))
  }
  try {
    const { metafile } = await build({
      entryPoints: [join(root, WORKER)],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      banner: { js: BANNER },
      // A removed guard may look like a mistake.
      logLevel: 'error',
      metafile: true,
      absWorkingDir: root,
      plugins: [replacing(edited)],
    })
    const unused = edits.find(({ file }) => metafile.inputs[file] === undefined)
    if (unused !== undefined) throw new Error(`the simulation does not load ${unused.file}`)
    return { file: outfile, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Replaces the text of files. */
export const replacing = (edited: ReadonlyMap<string, string>): Plugin => ({
  name: 'edited files',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = edited.get(path)
      return contents === undefined ? undefined : { contents, loader: 'ts' }
    })
  },
})
