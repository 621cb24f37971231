// The text files of the repository, as a map from path to content, for the checks of citations and of plain English.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

/** Files that are not checked: built, generated, third-party and binary files. */
const SKIPPED = /^(?:package-lock\.json|LICENSE|engines\/.*\.(?:sum|mod)|.*\.(?:svg|png|snap|pem|tar|gz))$/

/** Reads tracked files and new files that are not ignored, so that a file is checked before its first commit. */
export function repositoryFiles(): Map<string, string> {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const files = new Map<string, string>()
  for (const path of listed.split('\n')) {
    if (path === '' || SKIPPED.test(path) || !existsSync(join(ROOT, path))) continue
    files.set(path, readFileSync(join(ROOT, path), 'utf8'))
  }
  return files
}

/** True if the path is the folder or below it. `folder` may be a file and has no slash at its end. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)
