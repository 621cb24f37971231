// How long does it take to explain a deployment that fits on none of 1,000 nodes: the decision, every filter on every
// node, the remedies and the texts? Once with nodes that fail some filters, and once with nodes that fail all of them.
// bench/README.md explains how to run and read it.

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

/** A workload that requests more resources than any node has, and is ordinary otherwise. */
const tooLarge: Workload = { ...workloadAt(0), resources: { cpuMillis: 1_000_000, memoryBytes: 0 } }

const RULES = { enforcement: false, regions: { eu: ['DE', 'FR'], na: ['CA'] } }
const DEMAND = { country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] }

/** Nodes that could not create a container of the workload lately; the others pass the filter `creation`. */
const AVOIDED = 10

/** A workload that every filter rejects on the first nodes, and every filter but one on the others. */
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
  needs: ['health_check', 'volumes'],
  storageBytes: 1,
  volumes: [{ id: 'vol_bench', primary: nodeIdOf(1_000_000), copies: {}, isMoving: false }],
  networks: [{ name: 'back', nodeId: nodeIdOf(1_000_000) }],
  avoids: Array.from({ length: AVOIDED }, (_node, number) => ({
    nodeId: nodeIdOf(number),
    cause: 'address',
  })),
})

const refusingNode = (number: number): NodeFacts =>
  aNode(number, {
    status: 'failed',
    schedulable: false,
    controlPlane: true,
    claim: 'shared',
    agent: { version: '0.1.0', capabilities: ['health_check'] },
    labels: {
      disk: 'hdd',
      zone: `z${number % 12}`,
      'holdfast.io/country': 'US',
      'holdfast.io/geo-region': 'na',
    },
    attested: { country: 'US', region: 'na' },
    replicas: new Map([['db', 1]]),
    faults: ['engine_silent', 'disk_pressure'],
  })

const refusing = someFacts(
  Array.from({ length: NODES }, (_node, number) => refusingNode(number)),
  500,
  500,
)

interface Part {
  readonly about: string
  /** CPU time of an explanation in milliseconds, including garbage collection. */
  readonly ms: number
  /** Median wall-clock time of an explanation in milliseconds. */
  readonly clockMs: number
}

/** Reads every part of an explanation, because the parts are computed on first access. */
function readAll(candidates: readonly ExplainedCandidate[]): number {
  const { summary, cure, canonical, candidates: matrix } = explainCandidates(candidates)
  return summary.length + cure.length + canonical.length + matrix.length
}

/** The workload with a request that no earlier one had, so that the view knows no explanation of it. */
function differing(workload: Workload): Workload {
  differences += 1
  const { cpuMillis, memoryBytes } = workload.resources
  return { ...workload, resources: { cpuMillis: cpuMillis + differences, memoryBytes } }
}

let differences = 0

/** Measures an explanation as a whole, and the shares of its filter matrix and of its texts. */
function partsOf(about: string, workload: Workload, facts: TenantFacts): Part[] {
  const view = createSchedulingView(facts)
  const { candidates } = view.place(workload, 1)
  let changing = facts.nodes[0] ?? aNode(0)
  if (candidates.length !== NODES) throw new Error('the workload fits on a node')
  return [
    partOf(about, () => readAll(view.place(differing(workload), 1).candidates)),
    partOf('  of it the matrix', () => checkCandidates(workload, facts)),
    partOf('  of it the texts', () => readAll([...candidates])),
    partOf('  again after one node changed', () => {
      view.setNode({ ...changing, schedulable: !changing.schedulable })
      changing = { ...changing, schedulable: !changing.schedulable }
      return readAll(view.place(workload, 1).candidates)
    }),
  ]
}

function partOf(about: string, act: () => unknown): Part {
  measureThread(SLICE_MS, act)
  const slices = Array.from({ length: ROUNDS }, () => measureThread(SLICE_MS, act))
  const ms = 1000 / median(slices.map(({ perSecond }) => perSecond))
  return { about, ms, clockMs: median(slices.flatMap(({ micros }) => micros)) / 1000 }
}

const refusals = checkCandidates(unwanted, refusing)[0]?.refusals.length
if (refusals !== PLACEMENT_FILTERS.length) throw new Error(`only ${refusals} filters reject`)

const began = { busy: busyMicros(), own: cpuMicros([process.pid]), at: performance.now() }
const usual = partsOf('rejected by some filters', tooLarge, tenantOf(NODES))
const every = partsOf('rejected by every filter', unwanted, refusing)
const elapsed = (performance.now() - began.at) * 1000
const others = (busyMicros() - began.busy - (cpuMicros([process.pid]) - began.own)) / elapsed

console.log(
  `explanation of ${NODES} nodes, ${PLACEMENT_FILTERS.length} filters, CPU time, medians of ${ROUNDS}`,
)
for (const { about, ms, clockMs } of [...usual, ...every])
  console.log(`  ${about.padEnd(30)} ${ms.toFixed(2).padStart(7)} ms, wall clock ${clockMs.toFixed(2)} ms`)
console.log(`  other cores ${Math.max(0, others).toFixed(2)}`)
const reached = [usual, every].every(([total]) => (total?.ms ?? MOST_MS) < MOST_MS)
console.log(reached ? 'all targets reached' : `not all targets reached (under ${MOST_MS} ms)`)
if (values.check && !reached) process.exitCode = 1
