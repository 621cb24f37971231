// How long until a deployment that fits nowhere among 1,000 nodes is explained: the decision, every filter on every node,
// what would help each, and the words. Once with nodes that are refused for something, and once with every filter refusing
// every node. bench/README.md says how to run and read it.

import { parseArgs } from 'node:util'
import { checkCandidates } from '@holdfast/core/scheduling/check-candidates'
import type { ExplainedCandidate, NodeFacts, TenantFacts, Workload } from '@holdfast/core/scheduling/index'
import {
  createSchedulingView,
  desiredResidency,
  explainCandidates,
  PLACEMENT_FILTERS,
} from '@holdfast/core/scheduling/index'
import { aNode, aWorkload, nodeIdOf, someFacts } from '@holdfast/core/scheduling/scheduling.fixture'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { tenantOf, workloadAt } from './lib/scheduling-load.ts'
import { median } from './lib/stats.ts'
import { measureThread } from './lib/thread-slice.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    milliseconds: { type: 'string', default: '1000' },
    check: { type: 'boolean', default: false },
  },
})
const NODES = Number(values.nodes)
const ROUNDS = Number(values.rounds)
const SLICE_MS = Number(values.milliseconds)
const MOST_MS = 5

/** What no node has room for, otherwise a workload like the others. */
const tooLarge: Workload = { ...workloadAt(0), resources: { cpuMillis: 1_000_000, memoryBytes: 0 } }

const RULES = { enforcement: false, regions: { eu: ['DE', 'FR'], na: ['CA'] } }
const DEMAND = { country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] }

/** Refused by every filter there is. */
const unwanted: Workload = aWorkload({
  resources: { cpuMillis: 5_000, memoryBytes: 2 ** 40 },
  placement: {
    residency: DEMAND,
    constraints: [{ label: 'disk', operator: 'in', values: ['ssd', 'nvme'] }],
    affinity: ['cache'],
    antiAffinity: ['db'],
  },
  nodeId: nodeIdOf(1_000_000),
  residency: desiredResidency(DEMAND, RULES),
})

const refusingNode = (number: number): NodeFacts =>
  aNode(number, {
    status: 'failed',
    schedulable: false,
    controlPlane: true,
    claim: 'shared',
    labels: {
      disk: 'hdd',
      zone: `z${number % 12}`,
      'holdfast.io/country': 'US',
      'holdfast.io/geo-region': 'na',
    },
    attested: { country: 'US', region: 'na' },
    replicas: new Map([['db', 1]]),
  })

const refusing = someFacts(
  Array.from({ length: NODES }, (_node, number) => refusingNode(number)),
  500,
  500,
)

interface Part {
  readonly about: string
  /** CPU time, with the collection of what it leaves behind. */
  readonly ms: number
  /** How long one takes by the clock, in the median. */
  readonly clockMs: number
}

/** All that can be read of it: parts are made when they are. */
function told(candidates: readonly ExplainedCandidate[]): number {
  const { summary, cure, canonical, candidates: matrix } = explainCandidates(candidates)
  return summary.length + cure.length + canonical.length + matrix.length
}

/** The whole, and what the matrix alone and its words alone take of it. */
function partsOf(about: string, workload: Workload, facts: TenantFacts): Part[] {
  const view = createSchedulingView(facts)
  const { candidates } = view.place(workload, 1)
  if (candidates.length !== NODES) throw new Error('it found a node')
  return [
    partOf(about, () => told(view.place(workload, 1).candidates)),
    partOf('  of it the matrix', () => checkCandidates(workload, facts)),
    partOf('  of it the words', () => told(candidates)),
  ]
}

function partOf(about: string, act: () => unknown): Part {
  measureThread(SLICE_MS, act)
  const slices = Array.from({ length: ROUNDS }, () => measureThread(SLICE_MS, act))
  const ms = 1000 / median(slices.map(({ perSecond }) => perSecond))
  return { about, ms, clockMs: median(slices.flatMap(({ micros }) => micros)) / 1000 }
}

const refusals = checkCandidates(unwanted, refusing)[0]?.refusals.length
if (refusals !== PLACEMENT_FILTERS.length) throw new Error(`only ${refusals} filters refuse`)

const began = { busy: busyMicros(), own: cpuMicros([process.pid]), at: performance.now() }
const usual = partsOf('refused for something', tooLarge, tenantOf(NODES))
const every = partsOf('refused by every filter', unwanted, refusing)
const elapsed = (performance.now() - began.at) * 1000
const others = (busyMicros() - began.busy - (cpuMicros([process.pid]) - began.own)) / elapsed

console.log(
  `explanation of ${NODES} nodes, ${PLACEMENT_FILTERS.length} filters, CPU time, medians of ${ROUNDS}`,
)
for (const { about, ms, clockMs } of [...usual, ...every])
  console.log(`  ${about.padEnd(28)} ${ms.toFixed(2).padStart(7)} ms, by the clock ${clockMs.toFixed(2)} ms`)
console.log(`  other cores ${Math.max(0, others).toFixed(2)}`)
const reached = [usual, every].every(([whole]) => (whole?.ms ?? MOST_MS) < MOST_MS)
console.log(reached ? 'all figures reached' : `not all figures reached (under ${MOST_MS} ms)`)
if (values.check && !reached) process.exitCode = 1
