// Measures the first load of a built dashboard: the bytes, compressed with gzip, that a browser reads before the overview
// appears. Lazy chunks of other pages are not part of it.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const FIRST_LOAD_LIMIT = 250_000

/** The page itself. The overview, which a person sees first, is part of it. */
const ROOTS = ['index.html']

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}

type Manifest = { readonly [source: string]: Chunk }

export interface MeasuredFile {
  readonly file: string
  readonly bytes: number
}

export function measureFirstLoad(folder: string): MeasuredFile[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8'))
  const files = ['index.html', ...filesOfFirstLoad(manifest)]
  return files.map((file) => ({ file, bytes: gzipSize(join(folder, file)) }))
}

/** The files of the roots and of everything that they import statically, each once. */
export function filesOfFirstLoad(manifest: Manifest): string[] {
  const reached = new Set(ROOTS)
  for (const name of reached) for (const used of chunkOf(manifest, name).imports ?? []) reached.add(used)
  const chunks = [...reached].map((name) => chunkOf(manifest, name))
  return [...new Set(chunks.flatMap(({ file, css = [] }) => [file, ...css]))]
}

function chunkOf(manifest: Manifest, name: string): Chunk {
  const chunk = manifest[name]
  if (chunk === undefined) throw new Error(`the build has no chunk for ${name}; adapt the list of roots`)
  return chunk
}

const gzipSize = (path: string): number => statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size
