// Which test files can a change affect? Prints one per line, nearest first.
//
//   affected.ts REF           the tests that .ci/run --since runs; of labs and of tests with engines those of the same subject
//   affected.ts REF --all     every test that reaches a changed file
//   affected.ts REF --walk    exits with 0 if the packaging walk can notice the change, otherwise with 1

import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { affectedTests } from './affected-tests.ts'
import { changedSince, readRepository } from './read-change.ts'
import { needsPackagingWalk } from './suite-table.ts'

const ROOT = join(import.meta.dirname, '../..')
const options = argv.slice(2).filter((word) => word.startsWith('--'))
const [ref = 'HEAD'] = argv.slice(2).filter((word) => !word.startsWith('--'))

const changed = changedSince(ROOT, ref)
if (options.includes('--walk')) exit(needsPackagingWalk(changed) ? 0 : 1)
const all = options.includes('--all')
for (const { path } of affectedTests(readRepository(ROOT), changed, { all })) console.log(path)
