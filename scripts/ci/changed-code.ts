// Has the code of a file changed since a commit? Comments, types and formatting are no code.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'

const MAX_BYTES = 64 * 1024 ** 2

/** Without a commit, or with one that this clone does not have, every file counts as changed. */
export function changedSince(root: string, commit: string): (file: string) => boolean {
  const known = new Map<string, boolean>()
  const compare = (file: string): boolean => {
    if (commit === '') return true
    const path = join(root, file)
    const before = spawnSync('git', ['show', `${commit}:${file}`], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: MAX_BYTES,
    })
    if (before.status !== 0 || !existsSync(path)) return true
    const now = readFileSync(path, 'utf8')
    return before.stdout !== now && codeOf(before.stdout) !== codeOf(now)
  }
  return (file) => {
    const isChanged = known.get(file) ?? compare(file)
    known.set(file, isChanged)
    return isChanged
  }
}

const codeOf = (source: string): string =>
  transformSync(source, { loader: 'ts', minifyWhitespace: true, legalComments: 'none' }).code
