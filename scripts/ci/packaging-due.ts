// Prints "due: REASON" if this CI run must build the packages and walk the guides, otherwise "not due: REASON". Changes count since
// the commit in CI_SINCE.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { env } from 'node:process'
import { sliceOf } from '@holdfast/testkit/rotation'
import { packagingDue } from './packaging.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Files that differ from the commit, with those that no commit has yet; undefined if the clone does not have the commit. */
function changedFiles(since: string): readonly string[] | undefined {
  if (since === '') return undefined
  const run = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  const differing = run('diff', '--name-only', '--no-renames', since)
  const added = run('ls-files', '--others', '--exclude-standard')
  if (differing.status !== 0 || added.status !== 0) return undefined
  return [...differing.stdout.split('\n'), ...added.stdout.split('\n')].filter((path) => path !== '')
}

const reason = packagingDue(changedFiles(env['CI_SINCE'] ?? ''), sliceOf('packaging'))
console.log(reason === undefined ? 'not due: nothing that they contain has changed' : `due: ${reason}`)
