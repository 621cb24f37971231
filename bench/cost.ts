// What do the hot paths cost: a create, a placement, a decision, a resolve? Interleaves a base commit and the current tree in
// one run, and prints CPU microseconds and multiples of an empty POST request. bench/README.md#cost says how to read it.

import { parseArgs } from 'node:util'
import { type Cost, judgeCosts, type Pair, type Verdict } from '@holdfast/testkit/load/judge-costs'
import { buildOf, buildOfTree, readBases } from './lib/cost/builds.ts'
import { type StandIn, startStandIn } from './lib/cost/stand-in.ts'
import { type MeasuredProcess, startMeasured } from './lib/cost/start-measured.ts'
import type { PathName, TurnRequest } from './lib/cost/worker.ts'
import { busyMicros } from './lib/cpu.ts'
import { median } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    /** A commit. `tree` compares the current tree with itself. */
    base: { type: 'string' },
    /** Number of pairs of processes. */
    starts: { type: 'string', default: '6' },
    /** Number of slices of each hot path in a pair of processes. */
    slices: { type: 'string', default: '5' },
    /** The small run of CI, compared with the commit of CI. */
    ci: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    /** Also prints the ratio of each slice. */
    slicewise: { type: 'boolean', default: false },
  },
})

/**
 * Operations of a turn, of which each takes some 20 to 40 ms of CPU time, and those before the first one, in which V8 compiles.
 * Turns are short, because what other processes do to the caches changes within seconds.
 */
const PATHS: readonly HotPathSize[] = [
  { path: 'create', operations: 64, warmUp: 600 },
  { path: 'placement, 1 replica', operations: 100, warmUp: 600 },
  { path: 'placement, 10 replicas', operations: 600, warmUp: 3000 },
  { path: 'decision', operations: 1000, warmUp: 10_000 },
  { path: 'resolve', operations: 64, warmUp: 400 },
]
/** Empty requests before each turn, and again after it. */
const EMPTY = 32
/** Turns of each build in a slice; the two builds alternate. */
const TURNS = 3
/** An even number of starts, because a slice is put together from a start in one order and one in the other. */
const CI = { starts: 6, slices: 3 }

interface HotPathSize {
  readonly path: PathName
  readonly operations: number
  readonly warmUp: number
}

const sizes = values.ci ? CI : { starts: Number(values.starts), slices: Number(values.slices) }

type Pairs = ReadonlyMap<PathName, Pair[]>

/** Measures with one pair of processes. `order`: which build is the first in everything. */
async function measureStart(folders: Folders, standIn: StandIn, order: Order): Promise<Pairs> {
  const pairs: Pairs = new Map(PATHS.map(({ path }) => [path, []]))
  const start = (side: keyof Sides) => startMeasured(folders[side], standIn)
  const early = order[0] === 'tree' ? await start('tree') : undefined
  const base = await start('base')
  const sides = { base, tree: early ?? (await start('tree')) }
  try {
    for (const { path, operations, warmUp } of PATHS) {
      for (const side of order) await sides[side].turn({ path, operations: warmUp, empty: EMPTY })
      // The first slice is not kept: V8 still compiles, and each process for another time.
      for (let slice = -1; slice < sizes.slices; slice += 1) {
        const pair = await measureSlice(sides, { path, operations, empty: EMPTY }, order)
        if (slice >= 0) pairs.get(path)?.push(pair)
      }
    }
  } finally {
    sides.base.stop()
    sides.tree.stop()
  }
  return pairs
}

/** Puts the slices of two starts together, so that an advantage of the first or of the second build cancels out. */
function merge(one: readonly Pair[], other: readonly Pair[]): Pair[] {
  const between = (left: Cost, right: Cost): Cost => ({
    micros: Math.sqrt(left.micros * right.micros),
    emptyMicros: Math.sqrt(left.emptyMicros * right.emptyMicros),
  })
  return one.flatMap(({ base, tree }, index) => {
    const pair = other[index]
    return pair === undefined ? [] : [{ base: between(base, pair.base), tree: between(tree, pair.tree) }]
  })
}

interface Folders {
  readonly base: string
  readonly tree: string
}

interface Sides {
  readonly base: MeasuredProcess
  readonly tree: MeasuredProcess
}

type Order = readonly (keyof Sides)[]

/** The two builds take turns. The median turn is kept: a collection of all garbage, or another process, makes one turn dear. */
async function measureSlice(sides: Sides, request: TurnRequest, order: Order): Promise<Pair> {
  const spent: { readonly [side in keyof Sides]: Cost[] } = { base: [], tree: [] }
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const side of order) spent[side].push(await sides[side].turn(request))
  return { base: middle(spent.base), tree: middle(spent.tree) }
}

const middle = (costs: readonly Cost[]): Cost => ({
  micros: median(costs.map(({ micros }) => micros)),
  emptyMicros: median(costs.map(({ emptyMicros }) => emptyMicros)),
})

const ratioOf = ({ base, tree }: Pair): string =>
  `${base.micros.toFixed(0)}:${tree.micros.toFixed(0)}=${(tree.micros / base.micros).toFixed(3)}`

function lineOf(path: PathName, { micros, units, ratio, isDearer }: Verdict): string {
  const cells = [
    path.padEnd(22),
    `${micros.base.toFixed(1).padStart(8)} us ${units.base.toFixed(2).padStart(6)} units`,
    `${micros.tree.toFixed(1).padStart(8)} us ${units.tree.toFixed(2).padStart(6)} units`,
    `x ${ratio.median.toFixed(3)} (${ratio.lower.toFixed(3)} to ${ratio.upper.toFixed(3)})`,
  ]
  return `  ${cells.join('   ')}${isDearer ? '   DEARER' : ''}`
}

const bases = readBases()
const base = values.base ?? (values.ci ? bases.ci : bases.full)
const builds = { base: base === 'tree' ? buildOfTree() : buildOf(base), tree: buildOfTree() }
const folders = { base: builds.base.folder, tree: builds.tree.folder }
const standIn = await startStandIn()
const pairs: Pairs = new Map(PATHS.map(({ path }) => [path, []]))
const began = { busy: busyMicros(), at: performance.now() }
for (let start = 0; start < sizes.starts; start += 2) {
  const one = await measureStart(folders, standIn, ['base', 'tree'])
  const other = await measureStart(folders, standIn, ['tree', 'base'])
  for (const { path } of PATHS) pairs.get(path)?.push(...merge(one.get(path) ?? [], other.get(path) ?? []))
}
const busyCores = (busyMicros() - began.busy) / ((performance.now() - began.at) * 1000)
standIn.close()
builds.base.remove()
builds.tree.remove()

console.log(
  `cost of the hot paths, base ${base.slice(0, 8)} and the current tree, medians of ${sizes.starts * sizes.slices} slices each`,
)
console.log('  a unit is an empty POST request; ratio of tree to base: median (quartiles)')
const verdicts = PATHS.map(({ path }) => [path, judgeCosts(pairs.get(path) ?? [])] as const)
for (const [path, verdict] of verdicts) {
  console.log(lineOf(path, verdict))
  if (values.slicewise) console.log(`    ${(pairs.get(path) ?? []).map(ratioOf).join(' ')}`)
}
console.log(`  cores in use ${busyCores.toFixed(2)}, of which the benchmark needs one`)
const dearer = verdicts.filter(([, { isDearer }]) => isDearer).map(([path]) => path)
console.log(
  dearer.length === 0
    ? 'no hot path became dearer'
    : `dearer than ${base.slice(0, 8)} by more than 5 %: ${dearer.join('; ')}`,
)
if (values.check && dearer.length > 0) process.exitCode = 1
