// The version and the date of what is built. The date is that of the commit, so that a commit is always built to the same bytes.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { VERSION } from '@holdfast/contract'
import type { Release } from './nfpm-config.ts'

const ROOT = join(import.meta.dirname, '../..')

const git = (...words: string[]): string => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()

export const releaseFacts = (): Release => ({
  version: VERSION,
  date: new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString(),
  maintainer: 'Holdfast maintainers <maintainers@holdfast.io>',
  homepage: 'https://holdfast.io/docs',
  arch: 'amd64',
})

/** Files that differ from the commit: a build with such files cannot be repeated from the commit. */
export const changedFiles = (): string[] =>
  git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
