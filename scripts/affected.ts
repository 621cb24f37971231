// Runs the tests that a change can affect, nearest first, until one fails or the time is over (scripts/ci/verdict-seconds.ts).
//
//   npm run affected                   what differs from where the branch left origin/main, or from HEAD
//   npm run affected -- --since REF    what differs from another commit
//   npm run affected -- --near         only the nearest tests without engines, as in npm run check
//   npm run affected -- --all          every test that reaches the change, labs too, without a limit of time
//   npm run affected -- --seconds N    another limit of time, for a slow or busy machine
//   npm run affected -- --list         names the tests and runs none

import { join } from 'node:path'
import { exit, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { affectedTests, TIERS, type Tier } from './ci/affected-tests.ts'
import { branchPoint, changedSince, readRepository } from './ci/read-change.ts'
import { runInOrder } from './ci/run-in-order.ts'
import { needsPackagingWalk } from './ci/suite-table.ts'
import { waitFor } from './ci/verdict-seconds.ts'

const ROOT = join(import.meta.dirname, '..')
/** Engines wait more than they compute, so two files at a time suit a small machine. */
const WORKERS = 2
const NAMES: { readonly [tier in Tier]: string } = {
  near: 'near tests without engines',
  engines: 'tests with engines',
  far: 'far tests and rules of the repository',
  labs: 'labs and simulations',
}

const { values } = parseArgs({
  options: {
    since: { type: 'string' },
    near: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
const started = performance.now()
const elapsed = (): number => (performance.now() - started) / 1000

const changed = changedSince(ROOT, values.since ?? branchPoint(ROOT))
const affected = affectedTests(readRepository(ROOT), changed, { all: values.all })
const pathsOf = (tier: Tier): string[] =>
  affected.filter((test) => test.tier === tier).map(({ path }) => path)
if (values.list) {
  for (const { tier, path } of affected) stdout.write(`${tier.padEnd(8)} ${path}\n`)
  exit(0)
}

const wait = waitFor(changed)
const limit = values.all ? Number.POSITIVE_INFINITY : Number(values.seconds ?? wait.seconds)
const tiers: readonly Tier[] = values.all ? TIERS : wantedTiers()
let passed = 0
const failed: string[] = []
const left: string[] = []
for (const tier of TIERS) {
  const paths = pathsOf(tier)
  const seconds =
    tiers.includes(tier) && (values.all || failed.length === 0) ? deadlineOf(tier) - elapsed() : 0
  const run = await runInOrder(ROOT, paths, { seconds, untilFailure: !values.all, workers: WORKERS })
  passed += run.passed.length
  failed.push(...run.failed)
  if (run.notRun.length > 0) left.push(`${run.notRun.length} of ${paths.length} ${NAMES[tier]}`)
}
report()
exit(verdict() === 'passed' ? 0 : 1)

/** A run in which no test ended in time says nothing. */
function verdict(): 'passed' | 'FAILED' | 'NO VERDICT' {
  if (failed.length > 0) return 'FAILED'
  return passed === 0 && affected.length > 0 ? 'NO VERDICT' : 'passed'
}

function wantedTiers(): Tier[] {
  if (values.near) return ['near']
  return wait.withoutEngines === 1 ? ['near', 'far'] : ['near', 'engines', 'far']
}

/** Tests without engines leave a part of the time to those with engines, if there are any. */
function deadlineOf(tier: Tier): number {
  const othersFollow = tiers.includes('engines') && pathsOf('engines').length > 0
  return tier === 'near' && othersFollow ? limit * wait.withoutEngines : limit
}

function report(): void {
  for (const path of failed) stdout.write(`failed: ${path}\n`)
  if (left.length > 0) stdout.write(`not run: ${left.join(', ')}; npm run affected -- --all runs them\n`)
  if (needsPackagingWalk(changed))
    stdout.write('not run: the packaging walk, which notices this change; CI runs it\n')
  stdout.write(
    `affected: ${verdict()} after ${elapsed().toFixed(1)} s; ${changed.length} changed files, ${passed} test files passed, ${failed.length} failed\n`,
  )
}
