// Does a unit test notice when a guard is missing that no simulation can see? Each test must pass without its bug and fail
// with it, by an expectation.

import { stdout } from 'node:process'
import { runWithEdits } from './run-with-edits.ts'
import type { TestedBug } from './tested-bug.ts'

/** Returns the number of bugs that were not caught. */
export async function tryTestedBugs(root: string, bugs: readonly TestedBug[]): Promise<number> {
  if (bugs.length === 0) return 0
  const files = [...new Set(bugs.map(({ caughtBy }) => caughtBy.file))]
  const healthy = await runWithEdits(root, files, [])
  const good = new Set(healthy.filter(({ passed }) => passed).map(({ test }) => test))
  let missed = 0
  for (const bug of bugs) {
    const began = performance.now()
    const failure = good.has(bug.caughtBy.test)
      ? await failureOf(root, bug)
      : 'the test does not pass without the bug'
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    const { file, test } = bug.caughtBy
    const verdict = failure === undefined ? `${file}: ${test}` : `NOT CAUGHT by ${file}: ${failure}`
    stdout.write(`${bug.name}: ${verdict}, ${seconds} s\n`)
    if (failure !== undefined) missed += 1
  }
  return missed
}

/** Why the bug counts as not caught; undefined if its test failed as it must. */
async function failureOf(root: string, { edits, caughtBy }: TestedBug): Promise<string | undefined> {
  const outcomes = await runWithEdits(root, [caughtBy.file], edits)
  const own = outcomes.filter(({ test }) => test === caughtBy.test)
  if (own.length === 0) return 'the test did not run'
  if (own.every(({ passed }) => passed)) return 'the test passes'
  return own.some((each) => each.failedByExpectation) ? undefined : 'the test fails, but no expectation of it'
}
