// The hash of the files that a result is made of, so that work whose inputs are unchanged need not be repeated.

import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Hashes the paths and contents of the files below a root that match one of the patterns. */
export function hashFiles(
  root: string,
  patterns: readonly string[],
  isInput: (path: string) => boolean = () => true,
): string {
  const hash = createHash('sha256')
  const isFile = (path: string) => statSync(join(root, path)).isFile()
  for (const path of globSync(patterns, { cwd: root }).filter(isInput).filter(isFile).toSorted())
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}
