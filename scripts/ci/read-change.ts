// Reads from git and the disk the input of affectedTests: the files that have changed since a commit, and the repository.

import { execFileSync } from 'node:child_process'
import { gatherSources } from '@holdfast/testkit/source-tree/source-tree'
import type { Repository } from './affected-tests.ts'

const UNTRACKED = ['ls-files', '--others', '--exclude-standard']

const gitLines = (root: string, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .split('\n')
    .filter((line) => line !== '')

/** The files that differ from a commit, and those that git does not know yet. */
export const changedSince = (root: string, commit: string): string[] => [
  ...gitLines(root, 'diff', '--name-only', commit),
  ...gitLines(root, ...UNTRACKED),
]

/** The commit where this branch left origin/main, or HEAD if there is no such branch. */
export function branchPoint(root: string): string {
  try {
    return gitLines(root, 'merge-base', 'HEAD', 'origin/main')[0] ?? 'HEAD'
  } catch {
    return 'HEAD'
  }
}

export const readRepository = (root: string): Repository => ({
  sources: gatherSources(root),
  files: [...gitLines(root, 'ls-files'), ...gitLines(root, ...UNTRACKED)],
})
