// Which test files can a change affect? Usage: affected.ts REF prints one test file per line, or all test files if a file
// changed that every test depends on. A test depends on the files it imports, directly or through others, and on every
// file of the repository that one of these files names in a string, such as a program that the test starts.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { argv } from 'node:process'
import { gatherSources } from '@holdfast/testkit/source-tree/source-tree'
import { affectedTests } from './affected-tests.ts'

const ROOT = join(import.meta.dirname, '../..')
const [ref = 'HEAD'] = argv.slice(2)
const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n')

const changed = [
  ...git('diff', '--name-only', ref),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((path) => path !== '')
for (const path of affectedTests(gatherSources(ROOT), changed)) console.log(path)
