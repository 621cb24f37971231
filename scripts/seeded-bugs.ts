// Does the simulation notice when a guard of the product is missing? Each seeded bug removes one guard from a bundle of the
// simulation; seeds run until an invariant that should notice breaks, and the same seed must pass without the bug. Guards
// that no simulation can see have a unit test that must fail (docs/design/simulation-in-ci.md#seeded-bugs).
//
//   node scripts/seeded-bugs.ts [--most <seeds>] [--check] [--record] [--in-turn] [<bug> ...]
//
// --record writes the seeds that found the bugs, which later runs try first. --in-turn tries the bugs whose code has changed since
// the commit in CI_SINCE, and some of the others in turn.

import { join } from 'node:path'
import process, { argv, env, exit, stdout } from 'node:process'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import {
  CANARY_EVERY,
  FIRST_CANARY_SEED,
  FIRST_CREATION_SEED,
  FIRST_FAILURE_SEED,
  FIRST_JOB_SEED,
  FIRST_MANY_JOBS_SEED,
  FIRST_NETWORK_SEED,
  FIRST_SCALING_SEED,
  FIRST_STORE_CUT_SEED,
  JOB_EVERY,
  NETWORK_EVERY,
  SCALING_EVERY,
  VOLUME_EVERY,
} from '@holdfast/simulation/seeds/random-script'
import type { SeedResult } from '@holdfast/simulation/seeds/run-seed'
import { runSeeds } from '@holdfast/simulation/seeds/run-seeds'
import { changedSince } from './ci/changed-code.ts'
import type { Bug, ScriptKind } from './seeded-bugs/bug.ts'
import { BUGS } from './seeded-bugs/bugs.ts'
import { bundleWorker } from './seeded-bugs/bundle-worker.ts'
import { chooseBugs } from './seeded-bugs/choose-bugs.ts'
import { readKnownSeeds, recordSeed } from './seeded-bugs/known-seeds.ts'
import { TESTED_BUGS } from './seeded-bugs/tested/tested-bugs.ts'
import { tryTestedBugs } from './seeded-bugs/tested/try-tested-bugs.ts'

const ROOT = join(import.meta.dirname, '..')
const MOST = 500

interface Found {
  readonly seed: number
  readonly invariant: string
  readonly message: string
  /** Number of simulation seeds that ran until the seeded bug was found. */
  readonly ran: number
}

/** Seeds after a number, from the first one on, with a distance. */
interface SeedRange {
  readonly before: number
  readonly first: number
  readonly step: number
}

const among = (first: number, step: number): SeedRange => ({ before: 0, first, step })
const after = (before: number): SeedRange => ({ before, first: 1, step: 1 })
const ALL_SEEDS = after(0)
const SEEDS_OF: { readonly [kind in ScriptKind]: SeedRange } = {
  volumes: among(VOLUME_EVERY, VOLUME_EVERY),
  jobs: among(FIRST_JOB_SEED, JOB_EVERY),
  'many jobs': after(FIRST_MANY_JOBS_SEED),
  scaling: among(FIRST_SCALING_SEED, SCALING_EVERY),
  canaries: among(FIRST_CANARY_SEED, CANARY_EVERY),
  networks: among(FIRST_NETWORK_SEED, NETWORK_EVERY),
  failures: after(FIRST_FAILURE_SEED),
  'store cuts': after(FIRST_STORE_CUT_SEED),
  creations: after(FIRST_CREATION_SEED),
}

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    most: { type: 'string' },
    check: { type: 'boolean' },
    record: { type: 'boolean' },
    'in-turn': { type: 'boolean' },
  },
})
const isWanted = ({ name }: { readonly name: string }) =>
  positionals.length === 0 || positionals.includes(name)
const isChanged = values['in-turn'] ? changedSince(ROOT, env['CI_SINCE'] ?? '') : () => true
const knownSeeds = readKnownSeeds(ROOT)
const tested = values.check ? [] : chosenOf(TESTED_BUGS)
const uncaught = await tryTestedBugs(ROOT, tested)
stdout.write(`${tested.length - uncaught} of ${tested.length} seeded bugs were caught by tests.\n`)
const wanted = chosenOf(BUGS)
const healthy = wanted.length === 0 ? undefined : await bundleWorker(ROOT, [])
const most = Number(values.most ?? MOST)
let missed = 0
for (const bug of wanted) if (!(await tryBug(bug))) missed += 1
stdout.write(
  `${wanted.length - missed} of ${wanted.length} seeded bugs ${values.check ? 'can be seeded' : 'were found'} by the simulation.\n`,
)
missed += uncaught
exit(missed === 0 ? 0 : 1)

function chosenOf<B extends Pick<Bug, 'name' | 'edits'>>(all: readonly B[]): readonly B[] {
  const { bugs, changed } = chooseBugs(all, isChanged)
  if (bugs.length < all.length)
    stdout.write(`${bugs.length} of ${all.length} seeded bugs: ${changed} in changed code, others in turn.\n`)
  return bugs.filter(isWanted)
}

async function tryBug(bug: Bug): Promise<boolean> {
  const bundle = await bundleWorker(ROOT, bug.edits)
  try {
    if (values.check) return true
    const began = performance.now()
    const cpu = process.cpuUsage()
    const worker = pathToFileURL(bundle.file)
    const found = (await huntKnown(bug, worker)) ?? (await hunt(bug, worker, { seeds: seedsFor(bug) }))
    if (found !== undefined && values.record) recordSeed(ROOT, bug.name, found.seed)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    const { user, system } = process.cpuUsage(cpu)
    const cpuSeconds = ((user + system) / 1e6).toFixed(1)
    stdout.write(
      `${bug.name}: ${found === undefined ? `NOT FOUND in ${most} seeds` : show(found)}, ${seconds} s (${cpuSeconds} s of CPU)\n`,
    )
    return found !== undefined
  } finally {
    bundle.remove()
  }
}

function show({ seed, invariant, message, ran }: Found): string {
  return `${invariant} after ${ran} seeds (seed ${seed}: ${message})`
}

/** Tries the seed that found the bug last, alone. */
async function huntKnown(bug: Bug, worker: URL): Promise<Found | undefined> {
  const seed = knownSeeds[bug.name]
  return seed === undefined ? undefined : await hunt(bug, worker, { seeds: [seed], threads: 1 })
}

async function hunt(
  bug: Bug,
  worker: URL,
  where: { readonly seeds: Iterable<number>; readonly threads?: number },
): Promise<Found | undefined> {
  const reds: Found[] = []
  let ran = 0
  await runSeeds({
    worker,
    ...where,
    onResult(result) {
      ran += 1
      const broken = brokenIn(result, bug)
      if (broken !== undefined) reds.push({ seed: result.seed, ...broken, ran })
      return reds.length === 0
    },
  })
  for (const red of reds) {
    if (await isGoodWithout(red)) return red
    stdout.write(
      `Seed ${red.seed} breaks an invariant without this bug too, so it has found another defect: ${red.message}\n`,
    )
  }
  return undefined
}

function* seedsFor({ scripts }: Bug): Generator<number> {
  const { before, first, step } = scripts === undefined ? ALL_SEEDS : SEEDS_OF[scripts]
  for (let seed = first; seed <= most; seed += step) yield before + seed
}

/** Finds a broken invariant that is listed for the seeded bug. Other broken invariants do not prove that it was found. */
function brokenIn(
  { violations }: SeedResult,
  { seenBy }: Bug,
): Pick<Found, 'invariant' | 'message'> | undefined {
  const one = violations.find(({ invariant }) => seenBy.includes(invariant))
  return one && { invariant: one.invariant, message: `${one.subject} ${one.message}`.slice(0, 160) }
}

async function isGoodWithout({ seed }: Found): Promise<boolean> {
  let good = false
  if (healthy === undefined) return good
  await runSeeds({
    worker: pathToFileURL(healthy.file),
    seeds: [seed],
    threads: 1,
    onResult({ violations }) {
      good = violations.length === 0
      return true
    },
  })
  return good
}
