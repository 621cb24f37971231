// Reads the sources of -f: a file, all manifests of a folder, or stdin.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source } from '@holdfast/manifest'
import type { OptionSpec } from '../command.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type ReadSources =
  | { readonly ok: true; readonly sources: readonly Source[] }
  | { readonly ok: false; readonly why: string }

export const FILENAME_OPTION: OptionSpec = {
  flags: '-f, --filename <path>',
  summary: 'manifest file, folder of manifests, or - for stdin; repeatable',
  many: true,
}

const MANIFEST = /\.(?:ya?ml|json)$/
const STDIN = '-'

export async function readSources(paths: readonly string[], terminal: Terminal): Promise<ReadSources> {
  const sources: Source[] = []
  for (const path of paths) {
    if (path === STDIN) {
      sources.push({ name: 'stdin', bytes: await terminal.readInput() })
      continue
    }
    const read = await readPath(path).catch((error: NodeJS.ErrnoException) => error)
    if (read instanceof Error) return { ok: false, why: `${path} cannot be read: ${reasonOf(read)}` }
    if (read.length === 0) return { ok: false, why: `${path} contains no .yaml, .yml or .json file` }
    sources.push(...read)
  }
  if (sources.length === 0) return { ok: false, why: 'no manifest given; use -f <path>' }
  return { ok: true, sources }
}

async function readPath(path: string): Promise<Source[]> {
  if (!(await stat(path)).isDirectory()) return [{ name: path, bytes: await readFile(path) }]
  const names = (await readdir(path)).filter((name) => MANIFEST.test(name)).sort()
  return Promise.all(
    names.map(async (name) => ({ name: join(path, name), bytes: await readFile(join(path, name)) })),
  )
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
}
const reasonOf = ({ code = '' }: NodeJS.ErrnoException): string => REASONS[code] ?? code
